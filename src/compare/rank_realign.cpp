#include <algorithm>

#include "compare/rank_comparer.hpp"

namespace detdiff::compare {

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
  drop_cut_tail(key, steps);
  return replay(key, steps);
}

// A log that ends inside an iteration was cut: what it lacks there was lost, not left undone. That
// explains a tail only where the other side alone has one, and where the sides met in the iteration.
void RankComparer::drop_cut_tail(std::int64_t key, std::vector<Step>& steps) {
  const auto paired = [](const Step& step) {
    return (step.a != Step::none && step.b != Step::none) || step.moved();
  };
  auto tail = steps.end();
  while (tail != steps.begin() && !paired(*(tail - 1))) --tail;
  if (tail == steps.end()) return;
  if (tail == steps.begin() && (!m_last_match || m_last_match->iteration != key)) return;
  const bool lacks_b = tail->b == Step::none;
  const bool one_sided = std::all_of(tail, steps.end(), [lacks_b](const Step& step) {
    return (step.b == Step::none) == lacks_b;
  });
  const Cursor& cursor = lacks_b ? *m_b : *m_a;
  if (!one_sided || !cursor.ended() || cursor.finished()) return;
  (lacks_b ? m_result.b : m_result.a).ends_inside_iteration = true;
  m_result.records_left_out += static_cast<std::uint64_t>(steps.end() - tail);
  steps.erase(tail, steps.end());
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
    Sighting seen_a;
    Sighting seen_b;
    if (step.a != Step::none) seen_a = {a.record, m_entries_a[step.a].occurrence};
    if (step.b != Step::none) seen_b = {b.record, m_entries_b[step.b].occurrence};
    Result<void> done;
    if (step.a != Step::none && step.b != Step::none) {
      done = pair(seen_a, seen_b, key);
    } else if (step.moved()) {
      // The pair is reported once, where it first shows.
      if (step.twin < static_cast<std::size_t>(&step - steps.data())) continue;
      m_last_was_missing = false;
      done = only(Kind::order, seen_a, seen_b, key);
    } else {
      done = only(step.a != Step::none ? Kind::missing_in_b : Kind::missing_in_a, seen_a, seen_b, key);
    }
    if (!done) return done;
  }
  return {};
}

}  // namespace detdiff::compare
