#include "compare/rank.hpp"

#include <algorithm>
#include <utility>

#include "compare/progress.hpp"
#include "compare/rank_comparer.hpp"
#include "compare/roles.hpp"

namespace detdiff::compare {
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
      const Sighting seen{cursor.record(), cursor.occurrence()};
      auto done = only(missing, is_a ? seen : Sighting{}, is_a ? Sighting{} : seen, cursor.iteration());
      if (!done) return done;
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
  m_evidence_at_start = m_evidence_before = m_result.evidence;
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
    if (auto done = pair({&a, m_a->occurrence()}, {&b, m_b->occurrence()}, key); !done) return done;
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
  m_last_match->position = skipped->last;
}

Result<void> RankComparer::pair(const Sighting& seen_a, const Sighting& seen_b, std::int64_t key) {
  const Record& a = *seen_a.record;
  const Record& b = *seen_b.record;
  m_evidence_before = m_result.evidence;
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
    m_last_match = Place{a.position, key, seen_a.occurrence};
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
  return add_finding(std::move(finding), seen_a, seen_b, key);
}

void RankComparer::note_input(const Record& record, std::int64_t key) {
  const auto [known, fresh] = m_is_collective.try_emplace(record.keys.identity, false);
  if (fresh) known->second = collective_part(record, key).side != CollectivePart::Side::none;
  if (!known->second || m_result.differing_inputs.size() >= m_task.max_inputs) return;
  const CollectivePart part = collective_part(record, key);
  if (part.side != CollectivePart::Side::output) m_result.differing_inputs.push_back(part.key);
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

Result<RankResult> compare_rank(const RankTask& task) { return RankComparer(task).run(); }

}  // namespace detdiff::compare
