#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detdiff/record.hpp"
#include "model/run.hpp"

namespace detdiff::compare {

enum class Verdict : std::uint8_t { same, divergent, inconclusive };
enum class Kind : std::uint8_t { value, dtype, shape, order, kernel, missing_in_a, missing_in_b };
enum class Class : std::uint8_t {
  origin, receiver, uncertain, view, artifact, control_flow, restore, undecidable
};
enum class Restore : std::uint8_t { data, rng, parameters, optimizer, scheduler, forward_state };
enum class MetricPattern : std::uint8_t { forward, backward, optimizer };
std::string_view to_string(Verdict);
std::string_view to_string(Kind);
std::string_view to_string(Class);
std::string_view to_string(Restore);
std::string_view to_string(MetricPattern);

/// What is left out of a comparison: ranks, iterations, phases, names.
struct Filter {
  struct Range { std::int64_t first, last; };
  struct Rule {
    std::vector<Range> ranks;
    std::vector<Range> iterations;
    std::vector<std::string> phases;  ///< exact
    std::vector<std::string> names;   ///< globs over the record's name and module
    [[nodiscard]] bool empty() const {
      return ranks.empty() && iterations.empty() && phases.empty() && names.empty();
    }
  };
  Rule only;  ///< every non-empty list must match
  Rule skip;  ///< any match leaves the record out
};

enum class Resume : std::uint8_t {
  automatic,  ///< compare the overlap, find an offset, let later segments replace earlier ones
  off,        ///< both runs are whole: what only one has recorded is missing in the other
};

struct Progress;  // see progress.hpp

struct Options {
  Evidence require = Evidence::rounded;  ///< least evidence for "same"
  Filter filter;
  std::optional<std::int64_t> iteration_offset;  ///< iteration of B minus iteration of A
  Resume resume = Resume::automatic;
  unsigned jobs = 0;                     ///< threads; 0 = as many as cores, at most one a rank
  std::size_t max_findings = 4096;       ///< findings kept in full, over all ranks (2 to 64 a rank)
  Progress* progress = nullptr;          ///< told how far reading has come
};

/// One divergence of one rank. The first of a rank is its first divergence.
struct Finding {
  Kind kind = Kind::value;
  Class cls = Class::uncertain;
  bool classified = true;                ///< false: metrics alone cannot give a class (null in reports)
  std::optional<Restore> restore;
  std::string reason;                    ///< one sentence: why this class
  std::optional<Record> a, b;            ///< absent on the side that misses it
  std::optional<Record> last_match;      ///< A's record of the last equal pair before it
  RecordMatch match;                     ///< what differs (kinds value, dtype, shape)
  std::size_t phase_order = 0;           ///< place of its phase in this iteration's order
  std::vector<std::string> phases_before;  ///< phases of this iteration that matched whole, in order
  std::uint64_t matched_in_iteration = 0;  ///< tensors with values that matched before it there
  bool first_resumed = false;            ///< in the first iteration after a resume or restart
  bool second_resumed = false;           ///< in the one after that
  std::uint64_t collective = 0;          ///< collective_key() if it is the output of one, else 0
  bool own_input_matched = false;        ///< this rank's input of that collective was equal
  std::uint64_t extra = 0;               ///< further records missing in one block with this one

  /// The record that names the place: A's, else B's with the iteration as A counts it.
  [[nodiscard]] const Record& record() const { return a ? *a : *b; }
};

/// A block of iterations, both ends included.
struct IterationSpan {
  std::int64_t first = 0, last = 0;
  std::uint64_t count = 0;
};

/// What one side's stream held, whole.
struct SideSummary {
  std::uint64_t records = 0;
  std::optional<IterationSpan> iterations;
  std::vector<IterationSpan> segments;   ///< more than one after a restart that appended
  std::vector<std::int64_t> repeated;    ///< iterations recorded more than once (at most 1,000)
  std::optional<Damage> damage;
  bool ends_inside_iteration = false;    ///< the last iteration is cut short against the other side
};

struct RankResult {
  std::optional<std::uint32_t> rank;     ///< as A numbers it (B's where A lacks it)
  bool in_a = true, in_b = true;
  std::string file_a, file_b;
  Verdict verdict = Verdict::inconclusive;
  std::vector<Finding> findings;         ///< in execution order, see Options::max_findings
  std::uint64_t finding_count = 0;       ///< all of them
  std::optional<Record> last_match;      ///< A's record of the last equal pair before the first finding
  std::uint64_t records_compared = 0;    ///< pairs held against each other
  std::uint64_t records_differing = 0;
  std::uint64_t records_missing_a = 0, records_missing_b = 0;
  std::uint64_t records_left_out = 0;    ///< outside the window, filtered, superseded; both sides
  std::uint64_t tensors_before = 0;      ///< tensors that matched in iterations before the first finding
  std::optional<IterationSpan> compared;  ///< as A counts
  std::uint64_t iterations_equal = 0;    ///< compared iterations without a finding
  SideSummary a, b;
  EvidenceCounts evidence;
  std::optional<std::int64_t> first_common;  ///< first iteration both sides recorded
  std::vector<Notice> notices;           ///< what happened to its files while they were read
  bool backward_metrics = false;         ///< metrics of the backward pass were compared
  bool has_tensors = false;              ///< something but events and scalars was compared
  std::vector<std::uint64_t> differing_inputs;  ///< collective_key() of collectives entered unequally
};

/// The outcome of comparing two runs.
struct Comparison {
  Verdict verdict = Verdict::inconclusive;
  std::optional<std::size_t> lead;       ///< index into ranks: whose first finding leads the report
  std::optional<MetricPattern> metric_pattern;
  std::vector<RankResult> ranks;
  std::int64_t offset = 0;               ///< iteration of B minus iteration of A
  bool offset_found = false;             ///< it was detected, not given
  std::optional<char> resumed;           ///< 'a' or 'b': the run that starts later
  Evidence weakest = Evidence::none;
  Evidence required = Evidence::rounded;
  EvidenceCounts evidence;
  std::optional<IterationSpan> compared;
  std::uint64_t records_compared = 0;
  std::uint64_t left_out = 0;
  std::size_t ranks_a = 0, ranks_b = 0, ranks_compared = 0;
  bool metrics_only = false;
  std::vector<Notice> notices;
  std::vector<std::string> inconclusive_because;  ///< one sentence each, empty unless inconclusive

  [[nodiscard]] const Finding* first() const {
    return lead ? &ranks[*lead].findings.front() : nullptr;
  }
};

/// Compares two runs, ranks in parallel. Errors: whatever a stream reports, Errc::interrupted.
Result<Comparison> compare_runs(const Run& a, const Run& b, const Options& options);

}  // namespace detdiff::compare
