#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "formats/line_template.hpp"

namespace detdiff::formats {

/// What a stream remembers of the lines it parsed: templates in the order in which they followed one
/// another, and which records the current visit of an iteration has seen.
///
/// A visit is a run of records of one iteration. Memory is bounded: templates by `max_bytes`, keys by
/// `max_keys`; over the first, further lines are parsed anew each time; over the second, duplicate
/// records of one visit are no longer found.
class LineMemory {
 public:
  static constexpr std::size_t max_bytes = 6u << 20;
  static constexpr std::size_t max_keys = 1u << 18;
  static constexpr std::uint32_t none = UINT32_MAX;

  LineMemory();

  /// The template that should match the next line, nullptr if nothing is expected.
  LineTemplate* expected() { return m_next == none ? nullptr : &m_entries[m_next].line; }
  [[nodiscard]] std::uint64_t expected_key() const { return m_entries[m_next].key; }
  /// True if the expected template already served in this visit: a second record of the same place.
  [[nodiscard]] bool expected_is_used() const { return m_entries[m_next].visit == m_visit; }
  /// The expected template matched: notes it as used and expects its follower.
  LineTemplate& accept();
  /// Finds an unused template of `key` that matches `line`, else keeps `parsed` as a new one while
  /// the budget lasts; makes it the follower of the last one. Returns nullptr if over budget (then
  /// `parsed` is untouched).
  LineTemplate* learn(std::uint64_t key, std::string_view line, ParsedLine& parsed);
  /// Forgets what is expected next: the line before was read by other means.
  void lose_track() { m_next = m_last = none; }

  /// Begins a visit. When full(), everything is forgotten first.
  void begin_visit();
  [[nodiscard]] bool full() const { return m_bytes > max_bytes || m_used >= max_keys; }
  /// Counts a record with this key in the current visit; returns how many there were before it.
  std::uint32_t count(std::uint64_t key);

 private:
  struct Entry {
    LineTemplate line;
    std::uint64_t key;
    std::uint32_t visit;
    std::uint32_t follower;
    std::uint32_t same_key;  ///< next entry of the same key
  };
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t visit = 0;  ///< 0: empty
    std::uint32_t count = 0;
    std::uint32_t first = none;
  };

  Slot* slot(std::uint64_t key);
  void clear();
  void grow();

  std::vector<Entry> m_entries;
  std::vector<Slot> m_slots;  ///< open addressing, a power of two
  std::size_t m_used = 0;
  std::size_t m_bytes = 0;
  std::uint32_t m_visit = 1;
  std::uint32_t m_next = none;
  std::uint32_t m_last = none;
};

}  // namespace detdiff::formats
