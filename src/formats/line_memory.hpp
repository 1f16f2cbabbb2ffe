#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/line_outline.hpp"
#include "formats/line_template.hpp"

namespace detdiff::formats {

/// What comparing a record with an equal one rests on.
struct SelfEvidence {
  std::vector<std::pair<Evidence, int>> tensors;  ///< strength; digest kind or -1
  std::uint64_t ignored = 0;
  int printed_digits = 0;
  friend bool operator==(const SelfEvidence&, const SelfEvidence&) = default;
};

/// What a stream remembers of the lines it parsed, in the order in which they followed one another,
/// and which records the current visit of an iteration has seen.
///
/// A visit is a run of records of one iteration. Every line leaves an outline (about 150 bytes), which
/// recognises and counts it; as long as `max_bytes` lasts, also a template, which makes records.
/// Memory is bounded: over `max_bytes` of templates lines are parsed anew when their records are asked
/// for; over `max_entries` they are parsed always, and duplicate records of one visit are no longer
/// found.
class LineMemory {
 public:
  static constexpr std::size_t max_bytes = 6u << 20;
  static constexpr std::size_t max_entries = 1u << 17;
  static constexpr std::uint32_t none = UINT32_MAX;

  /// One remembered line.
  struct Entry {
    LineOutline outline;
    std::unique_ptr<LineTemplate> line;  ///< null once the budget is spent
    std::uint64_t key = 0;
    std::uint32_t visit = 0;
    std::uint32_t follower = none;
    std::uint32_t same_key = none;  ///< next entry of the same key
    std::uint16_t evidence = 0;     ///< see evidence()
    bool occurrence_given = true;
  };

  LineMemory();

  /// The entry that should match the next line, nullptr if nothing is expected.
  [[nodiscard]] Entry* expected() { return m_next == none ? nullptr : &m_entries[m_next]; }
  /// True if the expected entry already served in this visit: a second record of the same place.
  [[nodiscard]] bool expected_is_used() const { return m_entries[m_next].visit == m_visit; }
  /// The expected entry matched: notes it as used and expects its follower.
  void accept();
  /// Finds an unused entry of `key` that matches `line`, else makes one while there is room, and
  /// makes it the follower of the last one. Returns its template, or nullptr if it has none: then
  /// `parsed` still holds the record.
  LineTemplate* learn(std::uint64_t key, std::string_view line, ParsedLine& parsed);
  /// Forgets what is expected next: the line before was read by other means.
  void lose_track() { m_next = m_last = none; }
  [[nodiscard]] const SelfEvidence& evidence(const Entry& entry) const {
    return m_evidence[entry.evidence];
  }

  /// Begins a visit. When full(), everything is forgotten first.
  void begin_visit();
  /// Names that change with every iteration would fill the memory for good.
  [[nodiscard]] bool full() const { return m_entries.size() >= max_entries || m_used >= max_entries; }
  /// Counts a record with this key in the current visit; returns how many there were before it.
  std::uint32_t count(std::uint64_t key);

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t visit = 0;  ///< 0: empty
    std::uint32_t count = 0;
    std::uint32_t first = none;
  };

  Slot* slot(std::uint64_t key);
  std::uint16_t intern_evidence(const Record& record);
  void clear();
  void grow();

  std::vector<Entry> m_entries;
  std::vector<Slot> m_slots;  ///< open addressing, a power of two
  std::vector<SelfEvidence> m_evidence;
  std::size_t m_used = 0;
  std::size_t m_bytes = 0;
  std::uint32_t m_visit = 1;
  std::uint32_t m_next = none;
  std::uint32_t m_last = none;
};

}  // namespace detdiff::formats
