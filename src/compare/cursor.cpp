#include "compare/cursor.hpp"

#include <algorithm>

#include "compare/roles.hpp"
#include "model/interrupt.hpp"

namespace detdiff::compare {
namespace {

bool in_ranges(const std::vector<Filter::Range>& ranges, std::int64_t value) {
  return std::any_of(ranges.begin(), ranges.end(), [value](const Filter::Range& range) {
    return value >= range.first && value <= range.last;
  });
}

bool name_listed(const std::vector<std::string>& globs, const Site& site) {
  return std::any_of(globs.begin(), globs.end(), [&site](const std::string& glob) {
    return glob_match(glob, site.name) || (!site.module.empty() && glob_match(glob, site.module));
  });
}

bool phase_listed(const std::vector<std::string>& phases, const Site& site) {
  return std::find(phases.begin(), phases.end(), site.phase) != phases.end();
}

bool passes(const Filter& filter, const Site& site) {
  if (!filter.only.phases.empty() && !phase_listed(filter.only.phases, site)) return false;
  if (!filter.only.names.empty() && !name_listed(filter.only.names, site)) return false;
  return !phase_listed(filter.skip.phases, site) && !name_listed(filter.skip.names, site);
}

void extend(std::optional<IterationSpan>& span, std::int64_t iteration) {
  if (!span) {
    span = IterationSpan{iteration, iteration, 1};
    return;
  }
  span->first = std::min(span->first, iteration);
  span->last = std::max(span->last, iteration);
  ++span->count;
}

constexpr std::size_t k_max_repeated = 1000;

}  // namespace

bool SegmentWatch::restarts(const Record& record) {
  const auto& iteration = record.site.iteration;
  if (!iteration) return false;
  bool restart = m_last && *iteration < *m_last;
  if (m_last == iteration) {
    restart = record.starts_segment || (m_begun && begins_iteration(record));
  }
  if (m_last != iteration || restart) m_begun = false;
  m_begun = m_begun || begins_iteration(record);
  m_last = iteration;
  return restart;
}

bool Plan::superseded(std::size_t segment, std::int64_t iteration) const {
  for (std::size_t later = segment + 1; later < segments.size(); ++later) {
    if (iteration >= segments[later].first) return true;
  }
  return false;
}

bool rank_in_scope(const Filter& filter, std::optional<std::uint32_t> rank) {
  const std::int64_t number = rank.value_or(0);
  if (!filter.only.ranks.empty() && !in_ranges(filter.only.ranks, number)) return false;
  return !in_ranges(filter.skip.ranks, number);
}

Cursor::Cursor(Stream& stream, const Filter& filter, const Plan* plan, std::int64_t offset)
    : m_stream(stream),
      m_filter(filter),
      m_plan(plan),
      m_shift(offset),
      m_names_filtered(!filter.only.phases.empty() || !filter.only.names.empty() ||
                       !filter.skip.phases.empty() || !filter.skip.names.empty()) {
  m_simple = !m_names_filtered && offset == 0 && plan == nullptr;
}

Result<bool> Cursor::advance() {
  while (true) {
    if (interrupt_requested().load(std::memory_order_relaxed)) {
      return interrupted_error("");
    }
    auto next = m_stream.next();
    if (!next) return std::move(next).error();
    m_record = *next;
    if (m_record == nullptr) {
      m_ended = true;
      return false;
    }
    const Scope scope = place(*m_record);
    if (scope == Scope::stop) {
      m_record = nullptr;
      return false;
    }
    ++m_records;
    if (scope == Scope::in) return true;
    ++m_left_out;
  }
}

Cursor::Scope Cursor::place(const Record& record) {
  const auto& iteration = record.site.iteration;
  const bool changed = iteration && *iteration != m_iteration;
  const bool restart = m_watch.restarts(record);
  if (restart) {
    if (m_plan == nullptr) {
      m_restarted = true;
      return Scope::stop;
    }
    ++m_segment;
  }
  if (changed || restart) {
    m_visit.clear();
    m_iteration = *iteration;
    if (m_segment_start == preamble || restart) m_segment_start = *iteration;
    m_superseded = m_plan != nullptr && m_plan->superseded(m_segment, *iteration);
    if (!m_superseded) extend(m_span, *iteration);
  }
  // Where a segment was appended, the log's own occurrence counts the earlier ones too.
  m_occurrence =
      m_segment == 0 ? record.site.occurrence : m_visit[record.keys.identity]++;
  if (m_superseded) return Scope::out;
  return filtered(record) ? Scope::out : Scope::in;
}

bool Cursor::filtered(const Record& record) {
  const std::int64_t number = iteration();
  if (!m_filter.only.iterations.empty() && !in_ranges(m_filter.only.iterations, number)) return true;
  if (in_ranges(m_filter.skip.iterations, number)) return true;
  if (!m_names_filtered) return false;
  const auto [place, fresh] = m_in_scope.try_emplace(record.keys.identity, true);
  if (fresh) place->second = passes(m_filter, record.site);
  return !place->second;
}

SideSummary Cursor::summary() const {
  SideSummary summary;
  summary.records = m_records;
  summary.iterations = m_span;
  if (m_plan != nullptr) {
    summary.segments = m_plan->segments;
    summary.repeated = m_plan->repeated;
  } else if (m_span) {
    summary.segments.push_back(*m_span);
  }
  if (m_ended) summary.damage = m_stream.damage();
  return summary;
}

Result<Plan> make_plan(Stream& stream) {
  Plan plan;
  SegmentWatch watch;
  while (true) {
    if (interrupt_requested().load(std::memory_order_relaxed)) {
      return interrupted_error("");
    }
    auto next = stream.next();
    if (!next) return std::move(next).error();
    if (*next == nullptr) break;
    const Record& record = **next;
    const auto& iteration = record.site.iteration;
    if (!iteration) continue;
    const bool restart = watch.restarts(record);
    if (plan.segments.empty() || restart) plan.segments.push_back({*iteration, *iteration, 0});
    // Inside a segment iterations never go back, so its last one is the one at hand.
    IterationSpan& segment = plan.segments.back();
    if (segment.count != 0 && segment.last == *iteration) continue;
    segment.last = *iteration;
    ++segment.count;
    for (std::size_t i = 0; i + 1 < plan.segments.size(); ++i) {
      if (*iteration < plan.segments[i].first || *iteration > plan.segments[i].last) continue;
      if (plan.repeated.size() < k_max_repeated &&
          std::find(plan.repeated.begin(), plan.repeated.end(), *iteration) == plan.repeated.end()) {
        plan.repeated.push_back(*iteration);
      }
      break;
    }
  }
  std::sort(plan.repeated.begin(), plan.repeated.end());
  return plan;
}

}  // namespace detdiff::compare
