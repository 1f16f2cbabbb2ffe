#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "detdiff/result.hpp"

namespace detdiff {

static_assert(std::atomic<bool>::is_always_lock_free);

/// True once SIGINT or SIGTERM arrived; the command line's signal handler sets it, so it is
/// constant-initialised and lock-free. Whatever waits or loops over input looks at it and gives up
/// with Errc::interrupted, which lets temporary files be removed on the ordinary path.
inline std::atomic<bool>& interrupt_requested() {
  static constinit std::atomic<bool> requested{false};
  return requested;
}

/// The error of an input or output that was given up because of interrupt_requested().
inline Error interrupted_error(std::string where) {
  return Error{Errc::interrupted, std::move(where), "interrupted"};
}

}  // namespace detdiff
