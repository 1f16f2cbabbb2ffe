#include "compare/align.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

namespace detdiff::compare {
namespace {

constexpr std::size_t k_max_cells = std::size_t{1} << 22;  // of the exact table
constexpr std::size_t k_max_edits = 1024;                  // of the greedy search

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

struct Range {
  std::size_t begin, end;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

class Aligner {
 public:
  Aligner(const std::vector<Entry>& a, const std::vector<Entry>& b) : m_a(a), m_b(b) {}

  Pairs run() {
    Range a{0, m_a.size()};
    Range b{0, m_b.size()};
    const auto same = [this](std::size_t i, std::size_t j) {
      return tokens(i, j) && m_a[i].value == m_b[j].value;
    };
    while (a.size() && b.size() && same(a.begin, b.begin) &&
           m_a[a.begin].occurrence == m_b[b.begin].occurrence) {
      m_pairs.emplace_back(a.begin++, b.begin++);
    }
    while (a.size() && b.size() && same(a.end - 1, b.end - 1)) pair_end(a, b);
    if (a.size() * b.size() > k_max_cells) {
      // Behind a divergence every value differs: there the kinds of records must do.
      while (a.size() && b.size() && tokens(a.end - 1, b.end - 1)) pair_end(a, b);
    }
    middle(a, b);
    std::sort(m_pairs.begin(), m_pairs.end());
    return std::move(m_pairs);
  }

 private:
  [[nodiscard]] bool tokens(std::size_t i, std::size_t j) const {
    return m_a[i].token == m_b[j].token;
  }
  [[nodiscard]] int weight(std::size_t i, std::size_t j) const {
    return (m_a[i].value == m_b[j].value ? 2 : 0) +
           (m_a[i].occurrence == m_b[j].occurrence ? 1 : 0);
  }
  void pair_end(Range& a, Range& b) { m_pairs.emplace_back(--a.end, --b.end); }

  void middle(Range a, Range b) {
    if (a.size() == 0 || b.size() == 0) return;
    if (a.size() * b.size() <= k_max_cells) return best_in_table(a, b);
    if (greedy(a, b)) return;
    anchored(a, b);
  }

  // Longest common subsequence by a full table. A score counts pairs in its high half, so that no sum
  // of weights outbids a pair.
  void best_in_table(Range a, Range b) {
    const std::size_t n = a.size();
    const std::size_t m = b.size();
    std::vector<std::uint64_t> row(m + 1, 0);
    std::vector<std::uint8_t> from((n + 1) * (m + 1), 0);  // 1: skip a, 2: skip b, 3: pair
    for (std::size_t i = n; i-- > 0;) {
      std::uint64_t diagonal = row[m];
      for (std::size_t j = m; j-- > 0;) {
        const std::uint64_t down = row[j];       // skip a
        const std::uint64_t right = row[j + 1];  // skip b
        std::uint64_t best = std::max(down, right);
        std::uint8_t way = down > right || (down == right && skip_a_first(a.begin + i, b.begin + j))
                               ? 1
                               : 2;
        if (tokens(a.begin + i, b.begin + j)) {
          const std::uint64_t pair =
              diagonal + (std::uint64_t{1} << 32) +
              static_cast<std::uint64_t>(weight(a.begin + i, b.begin + j));
          if (pair >= best) {
            best = pair;
            way = 3;
          }
        }
        from[i * (m + 1) + j] = way;
        diagonal = down;
        row[j] = best;
      }
    }
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < n && j < m) {
      switch (from[i * (m + 1) + j]) {
        case 3: m_pairs.emplace_back(a.begin + i++, b.begin + j++); break;
        case 1: ++i; break;
        default: ++j; break;
      }
    }
  }

  // The same choice whichever run is called A.
  [[nodiscard]] bool skip_a_first(std::size_t i, std::size_t j) const {
    return m_a[i].identity < m_b[j].identity;
  }

  // Myers' O(ND) search; false if the ranges differ by more than k_max_edits.
  bool greedy(Range a, Range b) {
    const auto n = static_cast<std::ptrdiff_t>(a.size());
    const auto m = static_cast<std::ptrdiff_t>(b.size());
    const auto limit = static_cast<std::ptrdiff_t>(k_max_edits);
    std::vector<std::vector<std::int32_t>> history;
    std::vector<std::int32_t> reach(2 * k_max_edits + 3, 0);
    const auto at = [&reach, limit](std::ptrdiff_t k) -> std::int32_t& {
      return reach[static_cast<std::size_t>(k + limit + 1)];
    };
    for (std::ptrdiff_t d = 0; d <= limit; ++d) {
      history.emplace_back(reach.begin() + (limit + 1 - d - 1), reach.begin() + (limit + 1 + d + 2));
      for (std::ptrdiff_t k = -d; k <= d; k += 2) {
        std::ptrdiff_t x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
        std::ptrdiff_t y = x - k;
        while (x < n && y >= 0 && y < m &&
               tokens(a.begin + static_cast<std::size_t>(x), b.begin + static_cast<std::size_t>(y))) {
          ++x;
          ++y;
        }
        at(k) = static_cast<std::int32_t>(x);
        if (x >= n && y >= m) {
          trace_back(a, b, history, d);
          return true;
        }
      }
    }
    return false;
  }

  void trace_back(Range a, Range b, const std::vector<std::vector<std::int32_t>>& history,
                  std::ptrdiff_t edits) {
    auto x = static_cast<std::ptrdiff_t>(a.size());
    auto y = static_cast<std::ptrdiff_t>(b.size());
    for (std::ptrdiff_t d = edits; d >= 0; --d) {
      const auto& reach = history[static_cast<std::size_t>(d)];
      const auto at = [&reach, d](std::ptrdiff_t k) {
        return static_cast<std::ptrdiff_t>(reach[static_cast<std::size_t>(k + d + 1)]);
      };
      const std::ptrdiff_t k = x - y;
      std::ptrdiff_t old_x = 0;
      std::ptrdiff_t old_y = 0;
      if (d > 0) {
        const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
        const std::ptrdiff_t old_k = down ? k + 1 : k - 1;
        old_x = at(old_k);
        old_y = old_x - old_k;
        const std::ptrdiff_t start_x = down ? old_x : old_x + 1;
        while (x > start_x) pair_back(a, b, --x, --y);
      } else {
        while (x > 0 && y > 0) pair_back(a, b, --x, --y);
      }
      x = old_x;
      y = old_y;
    }
  }
  void pair_back(Range a, Range b, std::ptrdiff_t x, std::ptrdiff_t y) {
    m_pairs.emplace_back(a.begin + static_cast<std::size_t>(x), b.begin + static_cast<std::size_t>(y));
  }

  // Pairs records that are alike and unique by (token, occurrence), as far as their order agrees.
  void anchored(Range a, Range b) {
    std::unordered_map<std::uint64_t, std::pair<std::size_t, int>> where;
    const auto key = [](const Entry& entry) {
      return entry.token ^ (entry.occurrence * 0x9e3779b97f4a7c15u);
    };
    for (std::size_t j = b.begin; j < b.end; ++j) {
      auto& place = where[key(m_b[j])];
      place.first = j;
      ++place.second;
    }
    std::unordered_map<std::uint64_t, int> in_a;
    for (std::size_t i = a.begin; i < a.end; ++i) ++in_a[key(m_a[i])];
    Pairs candidates;
    for (std::size_t i = a.begin; i < a.end; ++i) {
      const auto found = where.find(key(m_a[i]));
      if (found != where.end() && found->second.second == 1 && in_a[key(m_a[i])] == 1) {
        candidates.emplace_back(i, found->second.first);
      }
    }
    increasing(candidates);
  }

  // Longest increasing subsequence by B's index.
  void increasing(const Pairs& candidates) {
    std::vector<std::size_t> tails;
    std::vector<std::size_t> before(candidates.size(), Step::none);
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const auto place = std::lower_bound(tails.begin(), tails.end(), c, [&](std::size_t x, std::size_t y) {
        return candidates[x].second < candidates[y].second;
      });
      if (place != tails.begin()) before[c] = *(place - 1);
      if (place == tails.end()) {
        tails.push_back(c);
      } else {
        *place = c;
      }
    }
    for (std::size_t c = tails.empty() ? Step::none : tails.back(); c != Step::none; c = before[c]) {
      m_pairs.push_back(candidates[c]);
    }
  }

  const std::vector<Entry>& m_a;
  const std::vector<Entry>& m_b;
  Pairs m_pairs;
};

std::vector<Entry> by_identity(const std::vector<Entry>& entries, Range range) {
  std::vector<Entry> list(entries.begin() + static_cast<std::ptrdiff_t>(range.begin),
                          entries.begin() + static_cast<std::ptrdiff_t>(range.end));
  for (Entry& entry : list) entry.token = entry.identity;
  return list;
}

// What one side alone has between two pairs; the same order whichever run is called A.
void add_unpaired(const std::vector<Entry>& a, const std::vector<Entry>& b, Range in_a, Range in_b,
                  std::vector<Step>& steps) {
  const bool a_first = in_a.size() == 0 || in_b.size() == 0 ||
                       a[in_a.begin].identity < b[in_b.begin].identity;
  const auto add_a = [&] {
    for (std::size_t i = in_a.begin; i < in_a.end; ++i) steps.push_back({i, Step::none});
  };
  if (a_first) add_a();
  for (std::size_t j = in_b.begin; j < in_b.end; ++j) steps.push_back({Step::none, j});
  if (!a_first) add_a();
}

// Pairs what is left in one gap by identity: the same record with another layout.
void fill_gap(const std::vector<Entry>& a, const std::vector<Entry>& b, Range in_a, Range in_b,
              std::vector<Step>& steps) {
  const std::vector<Entry> left = by_identity(a, in_a);
  const std::vector<Entry> right = by_identity(b, in_b);
  const Pairs pairs = Aligner(left, right).run();
  Range rest_a = in_a;
  Range rest_b = in_b;
  for (const auto& [i, j] : pairs) {
    add_unpaired(a, b, {rest_a.begin, in_a.begin + i}, {rest_b.begin, in_b.begin + j}, steps);
    steps.push_back({in_a.begin + i, in_b.begin + j});
    rest_a.begin = in_a.begin + i + 1;
    rest_b.begin = in_b.begin + j + 1;
  }
  add_unpaired(a, b, rest_a, rest_b, steps);
}

void mark_moved(const std::vector<Entry>& a, const std::vector<Entry>& b, std::vector<Step>& steps) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> only_b;
  const auto key = [](const Entry& entry) {
    return entry.identity ^ (entry.occurrence * 0x9e3779b97f4a7c15u);
  };
  // Last first, so that the earliest is at the back.
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (steps[i].a == Step::none) only_b[key(b[steps[i].b])].push_back(i);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].b != Step::none) continue;
    const auto found = only_b.find(key(a[steps[i].a]));
    if (found == only_b.end() || found->second.empty()) continue;
    steps[i].twin = found->second.back();
    steps[steps[i].twin].twin = i;
    found->second.pop_back();
  }
}

}  // namespace

Entry make_entry(const Record& record, std::uint32_t occurrence) {
  Entry entry;
  entry.identity = record.keys.identity;
  entry.token = record.keys.token;
  entry.occurrence = occurrence;
  entry.position = record.position;
  std::uint64_t value = record.keys.content;
  const auto mix = [&value](std::uint64_t word) { value = std::rotl(value ^ word, 23) * 0x9e3779b97f4a7c15u; };
  for (const auto* list : {&record.outputs, &record.inputs}) {
    for (const auto& tensor : *list) {
      for (const auto& digest : tensor.digests) {
        std::uint64_t words[4] = {};
        std::memcpy(words, digest.bytes.data(), digest.size);
        for (const std::uint64_t word : words) mix(word);
      }
      for (const auto& statistic : tensor.statistics) mix(std::bit_cast<std::uint64_t>(statistic.value));
      if (tensor.value) mix(std::hash<std::string>{}(*tensor.value));
    }
  }
  entry.value = value;
  return entry;
}

std::vector<Step> align(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  const Pairs pairs = Aligner(a, b).run();
  std::vector<Step> steps;
  steps.reserve(std::max(a.size(), b.size()));
  std::size_t i = 0;
  std::size_t j = 0;
  for (const auto& [to_a, to_b] : pairs) {
    fill_gap(a, b, {i, to_a}, {j, to_b}, steps);
    steps.push_back({to_a, to_b});
    i = to_a + 1;
    j = to_b + 1;
  }
  fill_gap(a, b, {i, a.size()}, {j, b.size()}, steps);
  mark_moved(a, b, steps);
  return steps;
}

}  // namespace detdiff::compare
