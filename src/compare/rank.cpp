#include "compare/rank.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compare/align.hpp"
#include "compare/classify.hpp"
#include "compare/cursor.hpp"
#include "compare/progress.hpp"
#include "compare/roles.hpp"

namespace detdiff::compare {
namespace {

constexpr std::size_t k_explained = 4;              // findings that get their context read again
constexpr std::size_t k_max_differing_inputs = 65536;

struct Place {
  Position position;
  std::int64_t iteration = preamble;
};

// What a walk changes and a realignment takes back.
struct Tally {
  EvidenceCounts evidence;
  std::uint64_t compared = 0, differing = 0, missing_a = 0, missing_b = 0, findings = 0;
  std::size_t kept = 0, inputs = 0;
  std::optional<Place> last_match;
};

class RankComparer {
 public:
  explicit RankComparer(const RankTask& task) : m_task(task), m_options(*task.options) {}
  Result<RankResult> run();

 private:
  Result<bool> walk(const Plan* plan_a, const Plan* plan_b);
  Result<void> open_streams(const Plan* plan_a, const Plan* plan_b);
  Result<void> drain(Cursor& cursor, std::int64_t until, Kind missing);
  Result<void> iteration(std::int64_t key);
  Result<void> realign(std::int64_t key);
  Result<void> collect(Cursor& cursor, std::int64_t key, std::vector<Entry>& entries);
  Result<void> replay(std::int64_t key, const std::vector<Step>& steps);
  Result<void> pair(const Record& a, const Record& b, std::int64_t key);
  Result<void> only(Kind kind, const Record* a, const Record* b, std::int64_t key);
  Result<void> add_finding(Finding finding, const Record* a, const Record* b, std::int64_t key);
  Result<void> explain(Finding& finding, std::int64_t key);
  Result<const Record*> aux_record(std::unique_ptr<Stream>& aux, const Run& run, std::size_t index,
                                   const Position& position);
  void skip();
  void finish();
  void report_progress();
  void note_input(const Record& record, std::int64_t key);
  [[nodiscard]] Tally tally() const;
  void restore(const Tally& tally);
  [[nodiscard]] bool at(const Cursor& cursor, std::int64_t key) const {
    return cursor.record() != nullptr && cursor.iteration() == key;
  }

  const RankTask& m_task;
  const Options& m_options;
  RankResult m_result;
  Plan m_plans[2];  // of A and B, once a restart was seen
  std::unique_ptr<Stream> m_stream_a, m_stream_b, m_aux_a, m_aux_b, m_context_stream;
  std::unique_ptr<Cursor> m_a, m_b;
  std::optional<Place> m_last_match;
  Position m_iteration_start;
  std::int64_t m_key = preamble;           // the iteration at hand
  std::int64_t m_previous_key = preamble;  // the one compared before it
  std::optional<std::int64_t> m_start_a, m_start_b;
  bool m_region = false;  // a difference was seen in this iteration
  Tally m_before_region;
  std::vector<Entry> m_entries_a, m_entries_b;
  Kind m_last_kind = Kind::value;
  bool m_last_was_missing = false;
  std::unordered_map<std::uint64_t, bool> m_is_collective;
  std::uint64_t m_reported_bytes = 0, m_reported_records = 0;
  Error m_skip_error;
  bool m_skip_failed = false;
  unsigned m_idle_skips = 0, m_wait = 0;
};

Result<RankResult> RankComparer::run() {
  auto walked = walk(nullptr, nullptr);
  if (!walked) return std::move(walked).error();
  if (!*walked) {
    const std::pair<const Run*, std::size_t> sides[2] = {{m_task.a, m_task.index_a},
                                                         {m_task.b, m_task.index_b}};
    for (int side = 0; side < 2; ++side) {
      auto stream = sides[side].first->open(sides[side].second);
      if (!stream) return std::move(stream).error();
      auto plan = make_plan(**stream);
      if (!plan) return std::move(plan).error();
      m_plans[side] = std::move(*plan);
    }
    m_result = {};
    m_last_match.reset();
    m_start_a.reset();
    m_start_b.reset();
    walked = walk(&m_plans[0], &m_plans[1]);
    if (!walked) return std::move(walked).error();
  }
  finish();
  return std::move(m_result);
}

Result<void> RankComparer::open_streams(const Plan* plan_a, const Plan* plan_b) {
  auto a = m_task.a->open(m_task.index_a);
  if (!a) return std::move(a).error();
  auto b = m_task.b->open(m_task.index_b);
  if (!b) return std::move(b).error();
  m_stream_a = std::move(*a);
  m_stream_b = std::move(*b);
  m_a = std::make_unique<Cursor>(*m_stream_a, m_options.filter, plan_a, 0);
  m_b = std::make_unique<Cursor>(*m_stream_b, m_options.filter, plan_b, m_task.offset);
  return {};
}

Result<bool> RankComparer::walk(const Plan* plan_a, const Plan* plan_b) {
  if (auto opened = open_streams(plan_a, plan_b); !opened) return std::move(opened).error();
  for (Cursor* cursor : {m_a.get(), m_b.get()}) {
    if (auto moved = cursor->advance(); !moved) return std::move(moved).error();
  }
  while (m_a->record() != nullptr && m_b->record() != nullptr) {
    const std::int64_t key_a = m_a->iteration();
    const std::int64_t key_b = m_b->iteration();
    if (!m_start_a && key_a != preamble) m_start_a = key_a;
    if (!m_start_b && key_b != preamble) m_start_b = key_b;
    Result<void> done;
    if (key_a < key_b) {
      done = drain(*m_a, key_b, Kind::missing_in_b);
    } else if (key_b < key_a) {
      done = drain(*m_b, key_a, Kind::missing_in_a);
    } else {
      done = iteration(key_a);
    }
    if (!done) return std::move(done).error();
    report_progress();
  }
  if (auto done = drain(*m_a, INT64_MAX, Kind::missing_in_b); !done) return std::move(done).error();
  if (auto done = drain(*m_b, INT64_MAX, Kind::missing_in_a); !done) return std::move(done).error();
  return !m_a->restarted() && !m_b->restarted();
}

// Passes iterations that the other side did not record.
Result<void> RankComparer::drain(Cursor& cursor, std::int64_t until, Kind missing) {
  const bool is_a = missing == Kind::missing_in_b;
  while (cursor.record() != nullptr && cursor.iteration() < until) {
    auto& start = is_a ? m_start_a : m_start_b;
    if (!start && cursor.iteration() != preamble) start = cursor.iteration();
    if (m_options.resume == Resume::off) {
      const Record* record = cursor.record();
      if (auto done = only(missing, is_a ? record : nullptr, is_a ? nullptr : record, cursor.iteration());
          !done) {
        return done;
      }
    } else {
      ++m_result.records_left_out;
    }
    if (auto moved = cursor.advance(); !moved) return std::move(moved).error();
  }
  return {};
}

Result<void> RankComparer::iteration(std::int64_t key) {
  m_region = false;
  m_entries_a.clear();
  m_entries_b.clear();
  m_iteration_start = m_a->record()->position;
  if (key != m_key) m_previous_key = std::exchange(m_key, key);
  const std::uint64_t findings = m_result.finding_count;
  if (findings == 0) m_result.tensors_before = m_result.evidence.tensors;
  if (key != preamble) {
    if (!m_result.first_common) m_result.first_common = key;
    auto& span = m_result.compared;
    if (!span) span = IterationSpan{key, key, 0};
    span->last = key;
    ++span->count;
  }
  while (at(*m_a, key) && at(*m_b, key)) {
    const Record& a = *m_a->record();
    const Record& b = *m_b->record();
    if (a.keys.identity != b.keys.identity || m_a->occurrence() != m_b->occurrence()) break;
    const Tally before = m_region ? Tally{} : tally();
    const std::uint64_t differing = m_result.records_differing;
    if (auto done = pair(a, b, key); !done) return done;
    const bool differs = m_result.records_differing != differing;
    if (differs && !m_region) {
      m_region = true;
      m_before_region = before;
    }
    if (m_region) {
      m_entries_a.push_back(make_entry(a, m_a->occurrence()));
      m_entries_b.push_back(make_entry(b, m_b->occurrence()));
    } else {
      skip();
      if (m_skip_failed) return m_skip_error;
    }
    for (Cursor* cursor : {m_a.get(), m_b.get()}) {
      if (auto moved = cursor->advance(); !moved) return std::move(moved).error();
    }
  }
  if (at(*m_a, key) || at(*m_b, key)) {
    if (auto done = realign(key); !done) return done;
  }
  if (key != preamble && m_result.finding_count == findings) ++m_result.iterations_equal;
  return {};
}

// Steps over what both sides hold alike. Where this does not help (numbers that differ on every
// line), it is tried more and more rarely.
void RankComparer::skip() {
  if (!m_a->may_skip() || !m_b->may_skip()) return;
  if (m_wait != 0) {
    --m_wait;
    return;
  }
  auto skipped = m_a->stream().skip_equal(m_b->stream());
  if (!skipped) {
    m_skip_failed = true;
    m_skip_error = std::move(skipped).error();
    return;
  }
  if (skipped->records == 0) {
    m_idle_skips = std::min(m_idle_skips + 1, 8u);
    m_wait = (1u << m_idle_skips) - 1;
    return;
  }
  m_idle_skips = 0;
  m_result.records_compared += skipped->records;
  m_result.evidence += skipped->evidence;
  m_a->skipped(skipped->records);
  m_b->skipped(skipped->records);
  m_last_match->position = m_a->stream().last()->position;
}

Result<void> RankComparer::pair(const Record& a, const Record& b, std::int64_t key) {
  const RecordMatch match = compare_records(a, b, m_result.evidence);
  ++m_result.records_compared;
  if (!m_result.has_tensors && (a.kind == RecordKind::boundary || a.kind == RecordKind::call) &&
      role_of(a) != Role::metric) {
    m_result.has_tensors = true;
  }
  if (!m_result.has_tensors && !m_result.backward_metrics &&
      metric_phase(a) == MetricPhase::backward) {
    m_result.backward_metrics = true;
  }
  if (match.outcome == RecordMatch::Outcome::equal) {
    m_last_match = Place{a.position, key};
    m_last_was_missing = false;
    return {};
  }
  ++m_result.records_differing;
  note_input(a, key);
  m_last_was_missing = false;
  Finding finding;
  finding.match = match;
  finding.kind = match.outcome == RecordMatch::Outcome::dtype   ? Kind::dtype
                 : match.outcome == RecordMatch::Outcome::shape ? Kind::shape
                                                                : Kind::value;
  return add_finding(std::move(finding), &a, &b, key);
}

void RankComparer::note_input(const Record& record, std::int64_t key) {
  const auto [known, fresh] = m_is_collective.try_emplace(record.keys.identity, false);
  if (fresh) known->second = collective_part(record, key).side != CollectivePart::Side::none;
  if (!known->second || m_result.differing_inputs.size() >= k_max_differing_inputs) return;
  const CollectivePart part = collective_part(record, key);
  if (part.side != CollectivePart::Side::output) m_result.differing_inputs.push_back(part.key);
}

Result<void> RankComparer::only(Kind kind, const Record* a, const Record* b, std::int64_t key) {
  if (kind == Kind::missing_in_a) ++m_result.records_missing_a;
  if (kind == Kind::missing_in_b) ++m_result.records_missing_b;
  const bool missing = kind == Kind::missing_in_a || kind == Kind::missing_in_b;
  if (missing && m_last_was_missing && m_last_kind == kind && !m_result.findings.empty()) {
    ++m_result.findings.back().extra;
    ++m_result.finding_count;
    return {};
  }
  m_last_was_missing = missing;
  m_last_kind = kind;
  Finding finding;
  finding.kind = kind;
  return add_finding(std::move(finding), a, b, key);
}

Result<void> RankComparer::add_finding(Finding finding, const Record* a, const Record* b,
                                       std::int64_t key) {
  ++m_result.finding_count;
  if (m_result.findings.size() >= m_options.max_findings) {
    m_last_was_missing = false;
    return {};
  }
  if (a != nullptr) finding.a = *a;
  if (b != nullptr) finding.b = *b;
  if (finding.a) finding.a->site.occurrence = m_a->segment() == 0 ? a->site.occurrence : m_a->occurrence();
  if (finding.b && m_b->segment() != 0) finding.b->site.occurrence = m_b->occurrence();
  if (finding.b && finding.b->site.iteration) finding.b->site.iteration = *finding.b->site.iteration - m_task.offset;
  if (m_result.findings.size() < k_explained) {
    if (auto done = explain(finding, key); !done) return done;
  }
  if (m_result.findings.empty()) m_result.last_match = finding.last_match;
  m_result.findings.push_back(std::move(finding));
  return {};
}

// Reads the iteration again up to the finding: what came before it decides what it means.
Result<void> RankComparer::explain(Finding& finding, std::int64_t key) {
  Context context;
  const auto resumed_at = [this](const Cursor& cursor, const std::optional<std::int64_t>& other) {
    const std::int64_t start = cursor.segment_start();
    // A restart that appended begins behind its own earlier iterations, a resumed run behind the
    // other run's.
    return cursor.segment() != 0 || (other && *other < start) ? start : preamble;
  };
  const std::int64_t resumed = std::max(resumed_at(*m_a, m_start_b), resumed_at(*m_b, m_start_a));
  if (key != preamble && resumed != preamble) {
    context.first_resumed = finding.first_resumed = key == resumed;
    finding.second_resumed = m_previous_key == resumed && key != resumed;
  }
  if (m_last_match) {
    const bool inside = m_last_match->iteration == key &&
                        m_last_match->position.byte >= m_iteration_start.byte;
    auto record = aux_record(m_context_stream, *m_task.a, m_task.index_a,
                             inside ? m_iteration_start : m_last_match->position);
    if (!record) return std::move(record).error();
    while (*record != nullptr) {
      if (inside) note(**record, key, context);
      if ((*record)->position.byte >= m_last_match->position.byte) break;
      record = m_context_stream->next();
      if (!record) return std::move(record).error();
    }
    if (*record != nullptr) finding.last_match = **record;
  }
  const std::string& phase = finding.record().site.phase;
  for (const auto& seen : context.phases) {
    if (seen != phase) finding.phases_before.push_back(seen);
  }
  const auto place = std::find(context.phases.begin(), context.phases.end(), phase);
  finding.phase_order = static_cast<std::size_t>(place - context.phases.begin());
  finding.matched_in_iteration = context.matched_tensors;
  classify(finding, context, key);
  return {};
}

Result<const Record*> RankComparer::aux_record(std::unique_ptr<Stream>& aux, const Run& run,
                                               std::size_t index, const Position& position) {
  if (!aux) {
    auto stream = run.open(index);
    if (!stream) return std::move(stream).error();
    aux = std::move(*stream);
  }
  return aux->read_at(position);
}

Result<void> RankComparer::collect(Cursor& cursor, std::int64_t key, std::vector<Entry>& entries) {
  while (at(cursor, key)) {
    entries.push_back(make_entry(*cursor.record(), cursor.occurrence()));
    if (auto moved = cursor.advance(); !moved) return std::move(moved).error();
  }
  return {};
}

// The two sides part: aligns the rest of the iteration, from its first difference on, and walks it
// again along the alignment.
Result<void> RankComparer::realign(std::int64_t key) {
  if (m_region) restore(m_before_region);
  if (auto done = collect(*m_a, key, m_entries_a); !done) return done;
  if (auto done = collect(*m_b, key, m_entries_b); !done) return done;
  std::vector<Step> steps = align(m_entries_a, m_entries_b);
  // A log that ends inside an iteration was cut: what it lacks there was lost, not left undone.
  const auto cut = [&steps](const Cursor& cursor, std::size_t Step::* side, SideSummary& summary) {
    if (!cursor.ended() || steps.empty() || steps.back().*side != Step::none || steps.back().moved()) return;
    Cursor& whole = const_cast<Cursor&>(cursor);
    if (whole.stream().finished()) return;
    while (!steps.empty() && steps.back().*side == Step::none && !steps.back().moved()) steps.pop_back();
    summary.ends_inside_iteration = true;
  };
  cut(*m_b, &Step::b, m_result.b);
  cut(*m_a, &Step::a, m_result.a);
  return replay(key, steps);
}

Result<void> RankComparer::replay(std::int64_t key, const std::vector<Step>& steps) {
  struct Side {
    std::unique_ptr<Stream>& aux;
    const Run& run;
    std::size_t index;
    const std::vector<Entry>& entries;
    std::optional<std::size_t> at;
    const Record* record = nullptr;
  };
  Side a{m_aux_a, *m_task.a, m_task.index_a, m_entries_a, {}};
  Side b{m_aux_b, *m_task.b, m_task.index_b, m_entries_b, {}};
  const auto go = [this](Side& side, std::size_t index) -> Result<void> {
    const Position& position = side.entries[index].position;
    Result<const Record*> record = static_cast<const Record*>(nullptr);
    if (side.at && side.record != nullptr && side.record->position.byte < position.byte) {
      // Records that a filter leaves out lie between: read on until the place is reached.
      do {
        record = side.aux->next();
        if (!record) return std::move(record).error();
        side.record = *record;
      } while (side.record != nullptr && side.record->position.byte < position.byte);
    } else if (!side.at || side.record == nullptr || side.record->position.byte != position.byte) {
      record = aux_record(side.aux, side.run, side.index, position);
      if (!record) return std::move(record).error();
      side.record = *record;
    }
    if (side.record == nullptr || side.record->position.byte != position.byte) {
      return Error{Errc::io, side.run.info().ranks[side.index].file, "changed while it was read", ""};
    }
    side.at = index;
    return {};
  };
  for (const Step& step : steps) {
    if (step.a != Step::none) {
      if (auto done = go(a, step.a); !done) return done;
    }
    if (step.b != Step::none) {
      if (auto done = go(b, step.b); !done) return done;
    }
    const Record* in_a = step.a != Step::none ? a.record : nullptr;
    const Record* in_b = step.b != Step::none ? b.record : nullptr;
    Result<void> done;
    if (in_a != nullptr && in_b != nullptr) {
      done = pair(*in_a, *in_b, key);
    } else if (step.moved()) {
      // The pair is reported once, where it first shows.
      if (step.twin < static_cast<std::size_t>(&step - steps.data())) continue;
      m_last_was_missing = false;
      done = only(Kind::order, in_a, in_b, key);
    } else {
      done = only(in_a != nullptr ? Kind::missing_in_b : Kind::missing_in_a, in_a, in_b, key);
    }
    if (!done) return done;
  }
  return {};
}

Tally RankComparer::tally() const {
  return {m_result.evidence,           m_result.records_compared, m_result.records_differing,
          m_result.records_missing_a,  m_result.records_missing_b, m_result.finding_count,
          m_result.findings.size(),    m_result.differing_inputs.size(), m_last_match};
}

void RankComparer::restore(const Tally& tally) {
  m_result.evidence = tally.evidence;
  m_result.records_compared = tally.compared;
  m_result.records_differing = tally.differing;
  m_result.records_missing_a = tally.missing_a;
  m_result.records_missing_b = tally.missing_b;
  m_result.finding_count = tally.findings;
  m_result.findings.resize(tally.kept);
  m_result.differing_inputs.resize(tally.inputs);
  m_last_match = tally.last_match;
  if (tally.kept == 0) m_result.last_match.reset();
  m_last_was_missing = false;
}

void RankComparer::report_progress() {
  if (m_options.progress == nullptr) return;
  const std::uint64_t bytes = m_stream_a->bytes_read() + m_stream_b->bytes_read();
  if (bytes > m_reported_bytes) m_options.progress->bytes_read += bytes - m_reported_bytes;
  m_reported_bytes = std::max(m_reported_bytes, bytes);
  m_options.progress->records += m_result.records_compared - std::min(m_reported_records, m_result.records_compared);
  m_reported_records = m_result.records_compared;
}

void RankComparer::finish() {
  const bool cut_a = m_result.a.ends_inside_iteration;
  const bool cut_b = m_result.b.ends_inside_iteration;
  m_result.a = m_a->summary();
  m_result.b = m_b->summary();
  m_result.a.ends_inside_iteration = cut_a;
  m_result.b.ends_inside_iteration = cut_b;
  for (Stream* stream : {m_stream_a.get(), m_stream_b.get()}) {
    for (auto& notice : stream->notices()) m_result.notices.push_back(std::move(notice));
  }
  m_result.records_left_out += m_a->left_out() + m_b->left_out();
  report_progress();
}

}  // namespace

Result<RankResult> compare_rank(const RankTask& task) { return RankComparer(task).run(); }

}  // namespace detdiff::compare
