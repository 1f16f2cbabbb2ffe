#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "detdiff/result.hpp"

namespace detdiff {

/// Folders below the named one that are entered at most, one inside the other.
inline constexpr int max_folder_depth = 32;

/// One file of an input.
struct FoundFile {
  /// What to open, as the user would type it.
  std::string path;
  /// The path below the named folder; the file name where a file was named.
  std::string relative;
};

/// The files of what the user named.
struct InputTree {
  bool folder = false;
  /// Sorted by `relative` in byte order.
  std::vector<FoundFile> files;
  /// Relative path and reason of what is no input, in byte order. Hidden names are not listed.
  std::vector<std::pair<std::string, std::string>> skipped;
  /// Of the named file or folder, to notice that both sides are the same one.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

/// The file itself if `path` is a file, a pipe or "-", else all regular files below the folder.
///
/// Below the folder links to files count as files, links to folders are skipped (a link to "."
/// would find every file forty times), and so are pipes, sockets, devices, dangling links and the
/// second name of a file that was found already (the name that is no link wins, then the first in
/// byte order). Names beginning with a dot are left out, our own temporary files among them. Names
/// may hold any byte.
///
/// Errc::io: a folder or file that the system does not let us look at, and a loop of links (it
/// names the link). Errc::limit: folders nested deeper than `max_folder_depth`. Errc::usage: a
/// device or a socket. Errc::interrupted: see interrupt_requested().
Result<InputTree> list_input(const std::string& path);

}  // namespace detdiff
