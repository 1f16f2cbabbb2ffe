#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "detdiff/record.hpp"

namespace detdiff::compare {

/// What alignment needs to know of one record.
struct Entry {
  std::uint64_t identity = 0;
  std::uint64_t token = 0;   ///< identity, dtypes and shapes
  std::uint64_t value = 0;   ///< content and digests: equal values suggest the same record
  std::uint32_t occurrence = 0;
  Position position;
};
Entry make_entry(const Record& record, std::uint32_t occurrence);

/// One step of an alignment, in the order of execution.
struct Step {
  static constexpr std::size_t none = SIZE_MAX;
  std::size_t a = none;  ///< index into A's entries, none if only B has the record
  std::size_t b = none;
  std::size_t twin = none;  ///< the step with the same record of the other side, if it only moved

  [[nodiscard]] bool moved() const { return twin != none; }
};

/// Aligns what two runs recorded in one iteration: a longest common subsequence over identity, dtypes
/// and shapes; among equally long ones the one that pairs most equal values, then equal occurrences.
/// What is left over is paired where it is the same record with another layout (in one gap), and
/// linked as twins where it is the same record elsewhere. Swapping A and B swaps the steps.
///
/// Exact up to 1,024 left-over records in one iteration; beyond, records that occur once anchor the
/// alignment. Time O((n+m) d), memory O(n + m + d^2) for d left-over records.
std::vector<Step> align(const std::vector<Entry>& a, const std::vector<Entry>& b);

}  // namespace detdiff::compare
