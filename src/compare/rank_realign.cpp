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

}  // namespace detdiff::compare
