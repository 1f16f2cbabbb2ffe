#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compare/align.hpp"
#include "compare/classify.hpp"
#include "compare/cursor.hpp"
#include "compare/rank.hpp"

namespace detdiff::compare {

/// Where a record of side A stands.
struct Place {
  Position position;
  std::int64_t iteration = preamble;
  std::uint32_t occurrence = 0;
};

/// A record at hand, and its occurrence as counted from 0 in every segment.
struct Sighting {
  const Record* record = nullptr;
  std::uint32_t occurrence = 0;
};

/// What a walk changes and a realignment takes back.
struct Tally {
  EvidenceCounts evidence;
  std::uint64_t compared = 0, differing = 0, missing_a = 0, missing_b = 0, findings = 0;
  std::size_t kept = 0, inputs = 0;
  std::optional<Place> last_match;
};

/// The walk over one rank; see compare_rank. Its three parts are rank.cpp (the walk in step),
/// rank_realign.cpp (where the sides part) and rank_findings.cpp (what a difference means).
class RankComparer {
 public:
  explicit RankComparer(const RankTask& task) : m_task(task), m_options(*task.options) {}
  Result<RankResult> run();

 private:
  Result<bool> walk(const Plan* plan_a, const Plan* plan_b);
  Result<void> open_streams(const Plan* plan_a, const Plan* plan_b);
  Result<void> drain(Cursor& cursor, std::int64_t until, Kind missing);
  Result<void> iteration(std::int64_t key);
  Result<void> realign(std::int64_t key);
  Result<void> collect(Cursor& cursor, std::int64_t key, std::vector<Entry>& entries);
  void drop_cut_tail(std::int64_t key, std::vector<Step>& steps);
  Result<void> replay(std::int64_t key, const std::vector<Step>& steps);
  Result<void> pair(const Sighting& a, const Sighting& b, std::int64_t key);
  Result<void> only(Kind kind, const Sighting& a, const Sighting& b, std::int64_t key);
  Result<void> add_finding(Finding finding, const Sighting& a, const Sighting& b, std::int64_t key);
  Result<void> explain(Finding& finding, std::int64_t key);
  void weigh_evidence(Context& context) const;
  Result<const Record*> aux_record(std::unique_ptr<Stream>& aux, const Run& run, std::size_t index,
                                   const Position& position);
  void skip();
  void finish();
  void report_progress();
  void note_input(const Record& record, std::int64_t key);
  [[nodiscard]] Tally tally() const;
  void restore(const Tally& tally);
  [[nodiscard]] bool at(const Cursor& cursor, std::int64_t key) const {
    return cursor.record() != nullptr && cursor.iteration() == key;
  }

  const RankTask& m_task;
  const Options& m_options;
  RankResult m_result;
  Plan m_plans[2];  // of A and B, once a restart was seen
  std::unique_ptr<Stream> m_stream_a, m_stream_b, m_aux_a, m_aux_b, m_context_stream;
  std::unique_ptr<Cursor> m_a, m_b;
  std::optional<Place> m_last_match;
  Position m_iteration_start;
  EvidenceCounts m_evidence_at_start;   // of the iteration at hand
  EvidenceCounts m_evidence_before;     // the pair at hand
  std::int64_t m_key = preamble;           // the iteration at hand
  std::int64_t m_previous_key = preamble;  // the one compared before it
  std::optional<std::int64_t> m_start_a, m_start_b;
  bool m_region = false;  // a difference was seen in this iteration
  Tally m_before_region;
  std::vector<Entry> m_entries_a, m_entries_b;
  Kind m_last_kind = Kind::value;
  bool m_last_was_missing = false;
  std::unordered_map<std::uint64_t, bool> m_is_collective;
  std::uint64_t m_reported_bytes = 0, m_reported_records = 0;
  Error m_skip_error;
  bool m_skip_failed = false;
  unsigned m_idle_skips = 0, m_wait = 0;
};

}  // namespace detdiff::compare
