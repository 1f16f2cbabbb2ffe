#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "compare/comparison.hpp"
#include "compare/cursor.hpp"
#include "compare/judge.hpp"
#include "compare/offset.hpp"
#include "compare/progress.hpp"
#include "compare/rank.hpp"

namespace detdiff::compare {
namespace {

constexpr std::size_t k_unpaired = SIZE_MAX;
constexpr std::size_t k_max_inputs = std::size_t{1} << 22;

struct RankPair {
  std::optional<std::uint32_t> rank;
  std::size_t a = k_unpaired;
  std::size_t b = k_unpaired;
};

Result<std::vector<RankPair>> pair_ranks(const Run& a, const Run& b, const Filter& filter) {
  // One log a side without ranks, or one file each: they are each other's partner.
  std::map<std::optional<std::uint32_t>, RankPair> pairs;
  const auto& in_a = a.info().ranks;
  const auto& in_b = b.info().ranks;
  if (in_a.size() == 1 && in_b.size() == 1 && (!in_a[0].rank || !in_b[0].rank)) {
    return std::vector<RankPair>{{in_a[0].rank ? in_a[0].rank : in_b[0].rank, 0, 0}};
  }
  for (std::size_t i = 0; i < in_a.size(); ++i) pairs[in_a[i].rank].a = i;
  for (std::size_t i = 0; i < in_b.size(); ++i) pairs[in_b[i].rank].b = i;
  std::vector<RankPair> list;
  for (auto& [rank, pair] : pairs) {
    pair.rank = rank;
    if (rank_in_scope(filter, rank)) list.push_back(pair);
  }
  if (list.empty()) {
    return Error{Errc::usage, "--only/--skip", "no rank is left to compare",
                 fmt::format("A has {} ranks, B has {}", in_a.size(), in_b.size())};
  }
  return list;
}

// Files that are the same on both sides prove nothing.
Result<void> check_distinct(const Run& a, const Run& b) {
  for (const auto& x : a.info().ranks) {
    for (const auto& y : b.info().ranks) {
      if (x.inode == 0 || x.inode != y.inode || x.device != y.device) continue;
      return Error{Errc::usage, x.file == y.file ? x.file : fmt::format("{}, {}", x.file, y.file),
                   "A and B are the same file: comparing a log with itself proves nothing",
                   "name the logs of two runs"};
    }
  }
  return {};
}

// A thread has nobody to catch what it throws; only memory can run out here.
Result<RankResult> guarded(const RankTask& task) {
  try {
    return compare_rank(task);
  } catch (const std::bad_alloc&) {
    return Error{Errc::limit, task.a->info().ranks[task.index_a].file, "out of memory",
                 "compare fewer ranks at once: --jobs 1"};
  }
}

class Driver {
 public:
  Driver(const Run& a, const Run& b, const Options& options) : m_a(a), m_b(b), m_options(options) {}

  Result<Comparison> run() {
    auto pairs = pair_ranks(m_a, m_b, m_options.filter);
    if (!pairs) return std::move(pairs).error();
    m_pairs = std::move(*pairs);
    m_comparison.offset = m_options.iteration_offset.value_or(0);
    if (auto done = compare_all(); !done) return std::move(done).error();
    if (m_options.resume == Resume::automatic && !m_options.iteration_offset) {
      if (auto done = try_offset(); !done) return std::move(done).error();
    }
    m_comparison.metrics_only = m_a.info().metrics_only && m_b.info().metrics_only;
    find_resumed();
    judge(m_comparison, m_options);
    collect_notices();
    return std::move(m_comparison);
  }

 private:
  Result<void> compare_all();
  Result<void> try_offset();
  void find_resumed();
  void collect_notices();
  void notice(std::string code, std::string text) {
    m_comparison.notices.push_back({std::move(code), std::move(text)});
  }
  RankResult unpaired(const RankPair& pair) const;
  // A rank's part of what all may keep: memory must not grow with ranks times findings.
  std::size_t share(std::size_t all, std::size_t least, std::size_t most) const {
    return std::clamp(all / m_pairs.size(), least, most);
  }

  const Run& m_a;
  const Run& m_b;
  const Options& m_options;
  std::vector<RankPair> m_pairs;
  Comparison m_comparison;
};

RankResult Driver::unpaired(const RankPair& pair) const {
  RankResult result;
  result.in_a = pair.a != k_unpaired;
  result.in_b = pair.b != k_unpaired;
  return result;
}

Result<void> Driver::compare_all() {
  m_comparison.ranks.assign(m_pairs.size(), {});
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::optional<std::pair<std::size_t, Error>> failure;
  const auto work = [&] {
    while (!failed.load(std::memory_order_relaxed)) {
      const std::size_t i = next.fetch_add(1);
      if (i >= m_pairs.size()) return;
      const RankPair& pair = m_pairs[i];
      RankResult result = unpaired(pair);
      if (result.in_a && result.in_b) {
        auto compared = guarded({&m_a, pair.a, &m_b, pair.b, &m_options, m_comparison.offset,
                                      share(m_options.max_findings, 2, 64),
                                      share(k_max_inputs, 256, 65536)});
        if (!compared) {
          const std::lock_guard lock(mutex);
          // The first rank's error is reported, whichever thread came first.
          if (!failure || i < failure->first) failure.emplace(i, std::move(compared).error());
          failed = true;
          return;
        }
        result = std::move(*compared);
      }
      result.rank = pair.rank;
      if (result.in_a) result.file_a = m_a.info().ranks[pair.a].file;
      if (result.in_b) result.file_b = m_b.info().ranks[pair.b].file;
      m_comparison.ranks[i] = std::move(result);
    }
  };
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t jobs =
      std::min<std::size_t>(m_options.jobs == 0 ? cores : m_options.jobs, m_pairs.size());
  std::vector<std::thread> threads;
  try {
    for (std::size_t i = 1; i < jobs; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had (a limit on processes or memory): those that are do the work.
  }
  work();
  for (auto& thread : threads) thread.join();
  if (failure) return std::move(failure->second);
  return {};
}

// Runs that number their iterations apart differ from the first record of the first iteration on, or
// share no iteration: then, and only then, an offset is looked for.
Result<void> Driver::try_offset() {
  const auto pair = std::find_if(m_pairs.begin(), m_pairs.end(), [](const RankPair& candidate) {
    return candidate.a != k_unpaired && candidate.b != k_unpaired;
  });
  if (pair == m_pairs.end()) return {};
  const RankResult& rank = m_comparison.ranks[static_cast<std::size_t>(pair - m_pairs.begin())];
  const bool nothing_agrees =
      rank.compared ? rank.iterations_equal == 0 : rank.a.iterations && rank.b.iterations;
  if (!nothing_agrees) return {};
  auto a = m_a.open(pair->a);
  if (!a) return std::move(a).error();
  auto b = m_b.open(pair->b);
  if (!b) return std::move(b).error();
  auto guess = find_offset(**a, **b);
  if (!guess) return std::move(guess).error();
  if (!*guess || (*guess)->offset == 0) return {};
  m_comparison.offset = (*guess)->offset;
  m_comparison.offset_found = true;
  notice("iteration_offset",
         fmt::format("iteration i of A is iteration i{:+} of B: found from {} iteration{} whose "
                     "records agree; --iteration-offset sets it",
                     (*guess)->offset, (*guess)->agreeing, (*guess)->agreeing == 1 ? "" : "s"));
  return compare_all();
}

void Driver::find_resumed() {
  for (const RankResult& rank : m_comparison.ranks) {
    if (!rank.a.iterations || !rank.b.iterations || m_options.resume == Resume::off) continue;
    const std::int64_t start_a = rank.a.iterations->first;
    const std::int64_t start_b = rank.b.iterations->first - m_comparison.offset;
    if (start_a != start_b) m_comparison.resumed = start_a < start_b ? 'b' : 'a';
    return;
  }
}

std::string spell(const IterationSpan& span) {
  return span.first == span.last ? std::to_string(span.first)
                                 : fmt::format("{}-{}", span.first, span.last);
}

void Driver::collect_notices() {
  // What both runs say alike is said once.
  const auto add = [this](const Notice& one) {
    auto& all = m_comparison.notices;
    const bool known = std::any_of(all.begin(), all.end(), [&one](const Notice& other) {
      return other.code == one.code && other.text == one.text;
    });
    if (!known) all.push_back(one);
  };
  for (const Run* run : {&m_a, &m_b}) {
    for (const Notice& one : run->info().notices) add(one);
  }
  for (const RankResult& rank : m_comparison.ranks) {
    for (const Notice& one : rank.notices) add(one);
  }
  // Ranks of one run are alike: the first that shows something speaks for all.
  bool window = false;
  bool segments[2] = {false, false};
  for (const RankResult& rank : m_comparison.ranks) {
    if (!rank.compared || !rank.a.iterations || !rank.b.iterations) continue;
    IterationSpan b = *rank.b.iterations;
    b.first -= m_comparison.offset;
    b.last -= m_comparison.offset;
    const IterationSpan& a = *rank.a.iterations;
    const IterationSpan& both = *rank.compared;
    if (!window && (a.first != both.first || a.last != both.last || b.first != both.first ||
                    b.last != both.last)) {
      window = true;
      notice("window", fmt::format("A recorded iterations {}, B {}; compared: {}", spell(a), spell(b),
                                   spell(both)));
    }
    for (const auto& [side, name, index] :
         {std::tuple(&rank.a, 'A', 0), std::tuple(&rank.b, 'B', 1)}) {
      if (segments[index] || side->segments.size() < 2) continue;
      segments[index] = true;
      std::string list;
      for (const IterationSpan& segment : side->segments) {
        list += fmt::format("{}{}", list.empty() ? "" : ", ", spell(segment));
      }
      notice("segments",
             fmt::format("{} was restarted {} time{} and appended (iterations {}): the last recording "
                         "of an iteration counts",
                         name, side->segments.size() - 1, side->segments.size() == 2 ? "" : "s", list));
    }
  }
  if (m_comparison.evidence.ignored != 0) {
    notice("not_compared", fmt::format("{} tensors are marked as uninitialised or still in flight and "
                                       "were not compared", m_comparison.evidence.ignored));
  }
  const auto statistics =
      m_comparison.evidence.by_strength[static_cast<std::size_t>(Evidence::statistics)];
  if (statistics != 0 && m_comparison.verdict == Verdict::divergent) {
    notice("statistics", "statistics are sums of floats themselves: a mean or norm can differ where "
                         "the tensor does not");
  }
}

}  // namespace

Result<Comparison> compare_runs(const Run& a, const Run& b, const Options& options) {
  if (auto distinct = check_distinct(a, b); !distinct) return std::move(distinct).error();
  return Driver(a, b, options).run();
}

}  // namespace detdiff::compare
