#include "formats/line_memory.hpp"

namespace detdiff::formats {

LineMemory::LineMemory() : m_slots(1024) {}

LineTemplate& LineMemory::accept() {
  Entry& entry = m_entries[m_next];
  entry.visit = m_visit;
  m_last = m_next;
  m_next = entry.follower;
  return entry.line;
}

LineTemplate* LineMemory::learn(std::uint64_t key, std::string_view line, ParsedLine& parsed) {
  Slot* place = slot(key);
  std::uint32_t found = none;
  if (place != nullptr) {
    for (std::uint32_t i = place->first; i != none; i = m_entries[i].same_key) {
      if (m_entries[i].visit != m_visit && m_entries[i].line.match(line)) {
        found = i;
        break;
      }
    }
  }
  if (found == none) {
    if (place == nullptr || m_bytes > max_bytes) {
      lose_track();
      return nullptr;
    }
    found = static_cast<std::uint32_t>(m_entries.size());
    m_entries.push_back({LineTemplate(line, parsed), key, m_visit, none, place->first});
    place->first = found;
    m_bytes += m_entries.back().line.footprint();
  } else {
    m_entries[found].line.apply(line);
  }
  m_entries[found].visit = m_visit;
  if (m_last != none) m_entries[m_last].follower = found;
  m_last = found;
  m_next = m_entries[found].follower;
  return &m_entries[found].line;
}

void LineMemory::begin_visit() {
  ++m_visit;
  // Names that change with every iteration would fill the memory for good: start afresh.
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
  if (m_used >= max_keys) return nullptr;
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
  m_slots.assign(1024, Slot{});
  m_used = 0;
  m_bytes = 0;
  lose_track();
}

}  // namespace detdiff::formats
