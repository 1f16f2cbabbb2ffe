#pragma once

#include <atomic>
#include <cstdint>

namespace detdiff::compare {

/// Counters that a display may read while a comparison runs.
struct Progress {
  std::atomic<std::uint64_t> bytes_read{0};   ///< both sides, as stored
  std::atomic<std::uint64_t> bytes_total{0};  ///< 0 while unknown
  std::atomic<std::uint64_t> records{0};      ///< pairs compared
};

}  // namespace detdiff::compare
