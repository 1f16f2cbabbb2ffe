#include "formats/line_memory.hpp"

#include <algorithm>

namespace detdiff::formats {

LineMemory::LineMemory() : m_slots(1024) {}

void LineMemory::accept() {
  Entry& entry = m_entries[m_next];
  entry.visit = m_visit;
  m_last = m_next;
  m_next = entry.follower;
}

LineTemplate* LineMemory::learn(std::uint64_t key, std::string_view line, ParsedLine& parsed) {
  Slot* place = slot(key);
  std::uint32_t found = none;
  if (place != nullptr) {
    for (std::uint32_t i = place->first; i != none; i = m_entries[i].same_key) {
      if (m_entries[i].visit != m_visit && m_entries[i].outline.match(line)) {
        found = i;
        break;
      }
    }
  }
  if (found != none) {
    LineTemplate* known = m_entries[found].line.get();
    if (known != nullptr && known->match(line)) known->apply(line);
  } else {
    const auto outline = LineOutline::make(line, parsed.spans);
    if (place == nullptr || !outline || m_entries.size() >= max_entries) {
      lose_track();
      return nullptr;
    }
    found = static_cast<std::uint32_t>(m_entries.size());
    Entry& entry = m_entries.emplace_back();
    entry.outline = *outline;
    entry.key = key;
    entry.same_key = place->first;
    entry.evidence = intern_evidence(parsed.record);
    entry.occurrence_given = parsed.occurrence_given;
    if (m_bytes <= max_bytes) {
      entry.line = std::make_unique<LineTemplate>(line, parsed);
      m_bytes += entry.line->footprint();
    }
    place->first = found;
  }
  m_entries[found].visit = m_visit;
  if (m_last != none) m_entries[m_last].follower = found;
  m_last = found;
  m_next = m_entries[found].follower;
  return m_entries[found].line.get();
}

std::uint16_t LineMemory::intern_evidence(const Record& record) {
  SelfEvidence evidence;
  const auto add = [&evidence](const std::vector<Fingerprint>& tensors) {
    for (const auto& tensor : tensors) {
      const FingerprintMatch self = match(tensor, tensor);
      if (self.outcome == FingerprintMatch::Outcome::ignored) {
        ++evidence.ignored;
      } else {
        if (self.printed_digits != 0 &&
            (evidence.printed_digits == 0 || self.printed_digits < evidence.printed_digits)) {
          evidence.printed_digits = self.printed_digits;
        }
        evidence.tensors.emplace_back(self.evidence, self.kind ? static_cast<int>(*self.kind) : -1);
      }
    }
  };
  add(record.outputs);
  if (record.inputs_recorded) add(record.inputs);
  const auto known = std::find(m_evidence.begin(), m_evidence.end(), evidence);
  if (known != m_evidence.end()) return static_cast<std::uint16_t>(known - m_evidence.begin());
  m_evidence.push_back(std::move(evidence));
  return static_cast<std::uint16_t>(m_evidence.size() - 1);
}

void LineMemory::begin_visit() {
  ++m_visit;
  if (full()) clear();
}

std::uint32_t LineMemory::count(std::uint64_t key) {
  Slot* place = slot(key);
  if (place == nullptr) return 0;
  if (place->visit != m_visit) {
    place->visit = m_visit;
    place->count = 0;
  }
  return place->count++;
}

LineMemory::Slot* LineMemory::slot(std::uint64_t key) {
  std::size_t mask = m_slots.size() - 1;
  std::size_t at = key & mask;
  while (m_slots[at].visit != 0) {
    if (m_slots[at].key == key) return &m_slots[at];
    at = (at + 1) & mask;
  }
  if (m_used >= max_entries) return nullptr;
  if ((m_used + 1) * 2 > m_slots.size()) {
    grow();
    return slot(key);
  }
  ++m_used;
  // Visit numbers begin at 2 (begin_visit precedes the first record), so 1 means "never counted".
  m_slots[at] = {key, 1, 0, none};
  return &m_slots[at];
}

void LineMemory::grow() {
  std::vector<Slot> old(m_slots.size() * 2);
  old.swap(m_slots);
  for (const Slot& entry : old) {
    if (entry.visit == 0) continue;
    std::size_t at = entry.key & (m_slots.size() - 1);
    while (m_slots[at].visit != 0) at = (at + 1) & (m_slots.size() - 1);
    m_slots[at] = entry;
  }
}

void LineMemory::clear() {
  m_entries.clear();
  m_evidence.clear();
  m_slots.assign(1024, Slot{});
  m_used = 0;
  m_bytes = 0;
  lose_track();
}

}  // namespace detdiff::formats
