#pragma once

#include "compare/comparison.hpp"

namespace detdiff::compare {

/// One rank of two runs, held against each other.
struct RankTask {
  const Run* a;
  std::size_t index_a;
  const Run* b;
  std::size_t index_b;
  const Options* options;
  std::int64_t offset = 0;  ///< iteration of B minus iteration of A
  std::size_t max_findings = 64;         ///< kept in full; further ones are counted
  std::size_t max_inputs = 65536;        ///< collectives remembered as entered unequally
};

/// Walks both streams iteration by iteration and finds where they part. Memory is bounded by one
/// iteration: 48 bytes a record that follows a difference in it. Verdict and joins over ranks are
/// left to the caller.
Result<RankResult> compare_rank(const RankTask& task);

}  // namespace detdiff::compare
