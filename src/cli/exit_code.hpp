#pragma once

namespace detdiff::cli {

/// The process exit status: part of the public interface, explained by `detdiff help exit-status`
/// and pinned by tests.
enum class ExitCode : int {
  same = 0,           ///< everything compared matched; for other commands: done
  divergent = 1,      ///< a first divergence was found
  trouble = 2,        ///< bad usage, or an input that cannot be read
  inconclusive = 3,   ///< too little is comparable, or it proves less than was required
  bisect_skip = 125,  ///< with --git-bisect: in place of 2 and 3
  interrupted = 130,  ///< SIGINT or SIGTERM
};

}  // namespace detdiff::cli
