#include "formats/input_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <tuple>

#include "formats/file_stream.hpp"
#include "model/file_descriptor.hpp"
#include "model/interrupt.hpp"

namespace detdiff {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

struct Candidate {
  std::uint64_t device;
  std::uint64_t inode;
  bool is_link;
  std::string relative;
};

std::string joined(const std::string& folder, const std::string& name) {
  if (folder.empty() || folder.back() == '/') return folder + name;
  return folder + '/' + name;
}

std::string file_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Error look_error(const std::string& path, int reason) {
  if (reason == ELOOP) return Error{Errc::io, path, "symbolic links lead in a circle"};
  struct stat info {};
  if (reason == ENOENT && ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) {
    return Error{Errc::io, path, "symbolic link to a file that does not exist"};
  }
  return system_error(path, "cannot open", reason);
}

Result<std::vector<std::string>> names_in(DIR* folder, const std::string& path) {
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(folder);
    if (entry == nullptr) break;
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  if (errno != 0) return system_error(path, "cannot list", errno);
  std::sort(names.begin(), names.end());
  return names;
}

class Walk {
 public:
  explicit Walk(InputTree& tree, std::string root) : m_tree(tree), m_root(std::move(root)) {}

  Result<void> run() {
    m_pending.push_back({std::string(), 0});
    while (!m_pending.empty()) {
      const Level level = std::move(m_pending.back());
      m_pending.pop_back();
      if (Result<void> listed = list(level); !listed) return listed;
    }
    settle();
    return {};
  }

 private:
  struct Level {
    std::string relative;
    int depth;
  };

  Result<void> list(const Level& level) {
    const std::string path = level.relative.empty() ? m_root : joined(m_root, level.relative);
    if (interrupt_requested()) return interrupted_error(path);
    if (level.depth > max_folder_depth) {
      return Error{Errc::limit, path,
                   "folders nested deeper than " + std::to_string(max_folder_depth),
                   "name a folder further down"};
    }
    const Folder folder(::opendir(path.c_str()));
    if (!folder) return system_error(path, "cannot list", errno);
    const Result<std::vector<std::string>> names = names_in(folder.get(), path);
    if (!names) return names.error();
    for (const std::string& name : *names) {
      if (Result<void> added = add(::dirfd(folder.get()), level, name); !added) return added;
    }
    return {};
  }

  Result<void> add(int folder, const Level& level, const std::string& name) {
    const std::string relative = joined(level.relative, name);
    struct stat info {};
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      return not_seen(relative, "vanished while the folder was listed");
    }
    const bool is_link = S_ISLNK(info.st_mode);
    if (is_link && ::fstatat(folder, name.c_str(), &info, 0) != 0) {
      return not_seen(relative, "symbolic link to a file that does not exist");
    }
    if (S_ISREG(info.st_mode)) {
      m_candidates.push_back({info.st_dev, info.st_ino, is_link, relative});
    } else if (S_ISDIR(info.st_mode) && !is_link) {
      m_pending.push_back({relative, level.depth + 1});
    } else {
      m_tree.skipped.emplace_back(
          relative,
          (is_link ? std::string("symbolic link to ") : std::string()) + file_kind(info.st_mode));
    }
    return {};
  }

  Result<void> not_seen(const std::string& relative, const char* reason_if_absent) {
    if (errno != ENOENT) return look_error(joined(m_root, relative), errno);
    m_tree.skipped.emplace_back(relative, reason_if_absent);
    return {};
  }

  void settle() {
    std::sort(m_candidates.begin(), m_candidates.end(), [](const auto& a, const auto& b) {
      return std::tie(a.device, a.inode, a.is_link, a.relative) <
             std::tie(b.device, b.inode, b.is_link, b.relative);
    });
    const Candidate* first = nullptr;
    for (const Candidate& found : m_candidates) {
      if (first != nullptr && first->device == found.device && first->inode == found.inode) {
        m_tree.skipped.emplace_back(found.relative, "the same file as " + first->relative);
        continue;
      }
      first = &found;
      m_tree.files.push_back({joined(m_root, found.relative), found.relative});
    }
    std::sort(m_tree.files.begin(), m_tree.files.end(),
              [](const auto& a, const auto& b) { return a.relative < b.relative; });
    std::sort(m_tree.skipped.begin(), m_tree.skipped.end());
  }

  InputTree& m_tree;
  std::string m_root;
  std::vector<Level> m_pending;
  std::vector<Candidate> m_candidates;
};

}  // namespace

Result<InputTree> list_input(const std::string& path) {
  const bool standard_input = path == "-";
  struct stat info {};
  if ((standard_input ? ::fstat(STDIN_FILENO, &info) : ::stat(path.c_str(), &info)) != 0) {
    return look_error(path, errno);
  }
  InputTree tree;
  tree.device = info.st_dev;
  tree.inode = info.st_ino;
  if (standard_input || S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode)) {
    tree.files.push_back({path, file_name(path)});
    return tree;
  }
  if (!S_ISDIR(info.st_mode)) {
    return Error{Errc::usage, path,
                 std::string("expected a file or a folder, found ") + file_kind(info.st_mode)};
  }
  tree.folder = true;
  if (Result<void> walked = Walk(tree, path).run(); !walked) return walked.error();
  return tree;
}

}  // namespace detdiff
