#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.hpp"

namespace detdiff::compare {

/// What the iteration of a finding held before it, on side A.
struct Context {
  std::vector<std::string> phases;        ///< in the order in which they began
  std::uint64_t matched_tensors = 0;      ///< tensors and scalars with values on both sides
  Evidence weakest = Evidence::strong;    ///< that a match before it rests on
  bool compute_seen = false;              ///< some forward or backward record
  bool gradients_seen = false;
  std::vector<std::uint64_t> collective_inputs;  ///< keys of collectives entered before
  bool first_resumed = false;             ///< the iteration is the first after a restart or resume
};

/// Adds a matched record to the context (all but the evidence).
void note(const Record& record, std::int64_t iteration, Context& context);

/// Sets class, restore and reason of a finding from what its own rank knows; collectives and metrics
/// are settled later (see join_ranks, judge_metrics). `iteration` as A counts.
void classify(Finding& finding, const Context& context, std::int64_t iteration);

/// Tells receivers of a collective from origins by what the other ranks entered it with.
void join_ranks(Comparison& comparison);

/// The rules for logs of metrics alone (design: forward before backward before optimizer).
void judge_metrics(Comparison& comparison);

}  // namespace detdiff::compare
