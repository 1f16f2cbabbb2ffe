#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compare/comparison.hpp"
#include "model/run.hpp"

namespace detdiff::compare {

/// How a stream's file falls into segments: parts between restarts that were appended. What a later
/// segment recorded again, or rolled back, is superseded: the state it came from was thrown away.
struct Plan {
  std::vector<IterationSpan> segments;
  std::vector<std::int64_t> repeated;  ///< iterations recorded more than once, at most 1,000

  /// True if the restart of a later segment rolled this iteration of `segment` back.
  [[nodiscard]] bool superseded(std::size_t segment, std::int64_t iteration) const;
};

/// Follows the iterations of a stream and tells where a restart begins a segment: where they go back,
/// or where one begins a second time.
class SegmentWatch {
 public:
  bool restarts(const Record& record);

 private:
  std::optional<std::int64_t> m_last;
  bool m_begun = false;
};

/// The iteration that records without one belong to when they precede all others.
inline constexpr std::int64_t preamble = INT64_MIN;

/// Walks one stream in the order of execution, leaving out what filters and superseded segments
/// exclude, and counts all of it.
class Cursor {
 public:
  /// `plan` may be null: then the first restart stops the walk (restarted()). `offset` is subtracted
  /// from this side's iterations.
  Cursor(Stream& stream, const Filter& filter, const Plan* plan, std::int64_t offset);

  /// Reads the next record in scope; false at the end or at an unplanned restart.
  Result<bool> advance();

  /// The record at hand, nullptr at the end. Lives until the next advance().
  [[nodiscard]] const Record* record() const { return m_record; }
  /// Its iteration as side A counts, preamble if there is none yet.
  [[nodiscard]] std::int64_t iteration() const {
    return m_iteration == preamble ? preamble : m_iteration - m_shift;
  }
  /// Its occurrence, counted from 0 in every segment.
  [[nodiscard]] std::uint32_t occurrence() const { return m_occurrence; }
  [[nodiscard]] bool restarted() const { return m_restarted; }
  [[nodiscard]] bool ended() const { return m_ended; }
  [[nodiscard]] bool finished() const { return m_stream.finished(); }
  [[nodiscard]] Stream& stream() { return m_stream; }

  /// True if nothing but the stream's own order decides what comes next, so that equal bytes may be
  /// skipped together with `other`.
  [[nodiscard]] bool may_skip() const { return m_simple; }
  /// Tells that the stream skipped `records` of the iteration at hand.
  void skipped(std::uint64_t records) { m_records += records; }

  /// What was read so far. `segments` and `repeated` are those of the plan.
  [[nodiscard]] SideSummary summary() const;
  [[nodiscard]] std::uint64_t left_out() const { return m_left_out; }
  /// First iteration of the segment at hand, as A counts: where a restart or a resumed run begins.
  [[nodiscard]] std::int64_t segment_start() const {
    return m_segment_start == preamble ? preamble : m_segment_start - m_shift;
  }
  [[nodiscard]] std::size_t segment() const { return m_segment; }

 private:
  enum class Scope : std::uint8_t { in, out, stop };
  Scope place(const Record& record);
  [[nodiscard]] bool filtered(const Record& record);

  Stream& m_stream;
  const Filter& m_filter;
  const Plan* m_plan;
  std::int64_t m_shift;
  bool m_simple;
  bool m_names_filtered;
  SegmentWatch m_watch;
  const Record* m_record = nullptr;
  std::int64_t m_iteration = preamble;
  std::int64_t m_segment_start = preamble;
  std::uint32_t m_occurrence = 0;
  std::size_t m_segment = 0;
  bool m_superseded = false;  ///< the iteration at hand was rolled back later
  bool m_restarted = false;
  bool m_ended = false;
  std::uint64_t m_records = 0;
  std::uint64_t m_left_out = 0;
  std::optional<IterationSpan> m_span;
  std::unordered_map<std::uint64_t, bool> m_in_scope;           ///< by identity
  std::unordered_map<std::uint64_t, std::uint32_t> m_visit;     ///< occurrences in later segments
};

/// Reads a whole stream to find its restarts.
Result<Plan> make_plan(Stream& stream);

/// True if filter rules let a rank take part.
bool rank_in_scope(const Filter& filter, std::optional<std::uint32_t> rank);

}  // namespace detdiff::compare
