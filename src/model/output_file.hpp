#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "detdiff/result.hpp"

namespace detdiff {

/// A result file that is complete or not there.
///
/// A target that is absent or a regular file is written to ".<name>.detdiff.<pid>.tmp" beside it
/// and renamed over it by commit(): a reader sees the old file or the new one, whatever happens in
/// between, also a kill. A symbolic link is followed and the rename done in the folder of its
/// target. An existing file keeps its permissions, and is refused if they forbid writing.
///
/// Everything else would be replaced by a rename and is written in place: devices, pipes, "-" and
/// /dev/stdout (the open descriptor, so that the position of a redirected file is kept). A pipe
/// without a reader is waited for until interrupt_requested().
///
/// Temporary files that a killed process left for the same name are removed by create(), if their
/// process is gone and nobody holds their lock.
class OutputFile {
 public:
  /// Errc::io with the system's reason; Errc::usage for a folder; Errc::interrupted. `where` is
  /// `path` in all errors of the object.
  static Result<OutputFile> create(const std::string& path);

  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  /// Without commit() the temporary file is removed and the target is left as it was.
  ~OutputFile();

  /// Appends; writes through a buffer. After a failure every later call fails in the same way.
  Result<void> write(std::string_view bytes);

  /// Hands everything written so far to the system (for progress on a pipe).
  Result<void> flush();

  /// Flushes, syncs, closes and renames, each checked; then syncs the folder where the system can.
  /// Once only; a later call is Errc::usage.
  Result<void> commit();

 private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

/// Makes a closed pipe and an exceeded file size limit errors of write() instead of deaths that
/// leave temporary files behind: ignores SIGPIPE and SIGXFSZ. To be called once, by main.
void ignore_fatal_signals();

}  // namespace detdiff
