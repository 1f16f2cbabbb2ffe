#pragma once

#include <cstdint>
#include <optional>

#include "compare/comparison.hpp"

namespace detdiff::compare {

/// A constant by which two runs number their iterations apart.
struct OffsetGuess {
  std::int64_t offset = 0;       ///< iteration of B minus iteration of A
  std::uint64_t agreeing = 0;    ///< iterations whose records agree under it
};

/// Finds the offset from agreement of digests: iterations of both streams are signed by what they
/// recorded (whole, and by their first 16 tensors with values, so that an iteration that diverges
/// still counts); signatures that repeat within a run say nothing. Absent if nothing agrees, or if
/// two offsets agree equally often. Reads both streams whole; memory 32 bytes an iteration.
Result<std::optional<OffsetGuess>> find_offset(Stream& a, Stream& b);

}  // namespace detdiff::compare
