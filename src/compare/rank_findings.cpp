#include <algorithm>

#include "compare/classify.hpp"
#include "compare/rank_comparer.hpp"

namespace detdiff::compare {
namespace {

constexpr std::size_t k_explained = 4;  // findings that get their context read again

}  // namespace

Result<void> RankComparer::only(Kind kind, const Sighting& a, const Sighting& b, std::int64_t key) {
  m_evidence_before = m_result.evidence;
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

Result<void> RankComparer::add_finding(Finding finding, const Sighting& a, const Sighting& b,
                                       std::int64_t key) {
  ++m_result.finding_count;
  if (m_result.findings.size() >= m_task.max_findings) {
    m_last_was_missing = false;
    return {};
  }
  const auto keep = [](std::optional<Record>& side, const Sighting& seen, std::int64_t offset) {
    if (seen.record == nullptr) return;
    side = *seen.record;
    side->site.occurrence = seen.occurrence;
    if (side->site.iteration) *side->site.iteration -= offset;
  };
  keep(finding.a, a, 0);
  keep(finding.b, b, m_task.offset);
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
    if (*record != nullptr) {
      finding.last_match = **record;
      finding.last_match->site.occurrence = m_last_match->occurrence;
    }
  }
  weigh_evidence(context);
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

// What the matches before the finding rest on in this iteration: on both sides, not on A's alone.
void RankComparer::weigh_evidence(Context& context) const {
  if (m_evidence_before.not_comparable != m_evidence_at_start.not_comparable) {
    context.weakest = Evidence::none;
  }
  for (std::size_t i = 0; i < evidence_count; ++i) {
    const std::uint64_t count = m_evidence_before.by_strength[i] - m_evidence_at_start.by_strength[i];
    const auto strength = static_cast<Evidence>(i);
    if (count == 0) continue;
    context.weakest = std::min(context.weakest, strength);
    if (strength > Evidence::metadata) context.matched_tensors += count;
  }
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

}  // namespace detdiff::compare
