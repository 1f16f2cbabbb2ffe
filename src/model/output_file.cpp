#include "model/output_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "model/file_descriptor.hpp"
#include "model/interrupt.hpp"

namespace detdiff {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{64} << 10;
constexpr std::size_t max_name_part = 200;
constexpr int max_links = 40;
constexpr useconds_t reader_wait_us = 50'000;
constexpr decltype(std::declval<struct statfs>().f_type) proc_magic = 0x9FA0;

struct Target {
  std::string path;
  std::optional<struct stat> existing;
  bool in_place = false;
  int inherited = -1;
};

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string("./") : path.substr(0, slash + 1);
}

std::string name_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string temporary_prefix(const std::string& target) {
  return "." + name_of(target).substr(0, max_name_part) + ".detdiff.";
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

int inherited_descriptor(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.substr(0, folder.size()) == folder) {
      return number(path.substr(folder.size())).value_or(-1);
    }
  }
  return -1;
}

bool is_in_proc(const std::string& link) {
  const FileDescriptor fd(::open(link.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct statfs info {};
  return fd.valid() && ::fstatfs(fd.get(), &info) == 0 && info.f_type == proc_magic;
}

Result<Target> resolve(const std::string& path) {
  Target target;
  target.path = path;
  target.inherited = inherited_descriptor(path);
  target.in_place = target.inherited >= 0;
  for (int links = 0; !target.in_place && links <= max_links; ++links) {
    if (name_of(target.path).empty()) {
      return Error{Errc::usage, path, "expected the name of a file to write"};
    }
    struct stat info {};
    if (::lstat(target.path.c_str(), &info) != 0) {
      if (errno != ENOENT) return system_error(path, "cannot write", errno);
      return target;
    }
    if (S_ISDIR(info.st_mode)) return Error{Errc::usage, path, "expected a file, found a folder"};
    if (!S_ISLNK(info.st_mode)) {
      if (::access(target.path.c_str(), W_OK) != 0) {
        return system_error(path, "cannot write", errno);
      }
      target.existing = info;
      target.in_place = !S_ISREG(info.st_mode);
      return target;
    }
    if (is_in_proc(target.path)) {
      target.in_place = true;
      return target;
    }
    std::error_code problem;
    const std::string next = std::filesystem::read_symlink(target.path, problem).string();
    if (problem) return system_error(path, "cannot write", problem.value());
    target.path = next.front() == '/' ? next : folder_of(target.path) + next;
  }
  if (target.in_place) return target;
  return Error{Errc::io, path, "symbolic links lead in a circle"};
}

Result<FileDescriptor> open_in_place(const std::string& path, const Target& target) {
  if (target.inherited >= 0) {
    FileDescriptor copy(::fcntl(target.inherited, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!copy.valid()) return system_error(path, "cannot write", errno);
    return copy;
  }
  const bool pipe = target.existing && S_ISFIFO(target.existing->st_mode);
  const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (pipe ? O_NONBLOCK : O_TRUNC);
  while (!interrupt_requested()) {
    FileDescriptor fd(::open(target.path.c_str(), flags));
    if (fd.valid()) {
      if (pipe) ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
      return fd;
    }
    if (pipe && errno == ENXIO) {
      ::usleep(reader_wait_us);
    } else if (errno != EINTR) {
      return system_error(path, "cannot write", errno);
    }
  }
  return interrupted_error(path);
}

bool is_running(int process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

bool remove_if_unlocked(const std::string& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  return fd.valid() && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 && ::unlink(path.c_str()) == 0;
}

void sweep(const std::string& folder, const std::string& prefix) {
  constexpr std::string_view suffix = ".tmp";
  DIR* listing = ::opendir(folder.c_str());
  if (listing == nullptr) return;
  while (const dirent* entry = ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (name.size() < prefix.size() + suffix.size() || name.substr(0, prefix.size()) != prefix ||
        name.substr(name.size() - suffix.size()) != suffix) {
      continue;
    }
    const std::optional<int> process =
        number(name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()));
    if (process && *process > 0 && !is_running(*process)) {
      remove_if_unlocked(folder + std::string(name));
    }
  }
  ::closedir(listing);
}

Result<FileDescriptor> open_temporary(const std::string& path, const std::string& temporary,
                                      const std::optional<struct stat>& existing) {
  FileDescriptor fd;
  for (int attempt = 0; attempt < 2 && !fd.valid(); ++attempt) {
    fd = FileDescriptor(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (fd.valid()) break;
    const int reason = errno;
    if (reason != EEXIST || attempt > 0 || !remove_if_unlocked(temporary)) {
      Error error = system_error(path, "cannot create a temporary file beside it", reason);
      if (reason == EEXIST) error.hint = "if nothing else is writing it, remove " + temporary;
      return error;
    }
  }
  ::flock(fd.get(), LOCK_EX | LOCK_NB);
  if (existing && ::fchmod(fd.get(), existing->st_mode & 0777U) != 0) {
    Error error = system_error(path, "cannot set the permissions of its temporary file", errno);
    ::unlink(temporary.c_str());
    return error;
  }
  return fd;
}

void sync_folder(const std::string& folder) {
  const FileDescriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) ::fsync(fd.get());
}

}  // namespace

struct OutputFile::State {
  std::string path;
  Target target;
  std::string temporary;
  FileDescriptor fd;
  std::string buffer;
  std::optional<Error> failed;
  bool committed = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!temporary.empty()) ::unlink(temporary.c_str());
  }

  Result<void> fail(Error error) {
    failed = std::move(error);
    return *failed;
  }

  Result<void> put(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
      if (n >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(n));
      } else if (errno == EINTR && interrupt_requested()) {
        return fail(interrupted_error(path));
      } else if (errno != EINTR) {
        return fail(system_error(path, "cannot write", errno));
      }
    }
    return {};
  }

  Result<void> sync_and_close() {
    if (!target.in_place && ::fsync(fd.get()) != 0 && errno != EINVAL && errno != ENOSYS) {
      return fail(system_error(path, "cannot write", errno));
    }
    if (const int reason = fd.close(); reason != 0) {
      return fail(system_error(path, "cannot write", reason));
    }
    return {};
  }

  Result<void> replace_target() {
    if (::rename(temporary.c_str(), target.path.c_str()) != 0) {
      return fail(system_error(path, "cannot rename the temporary file to it", errno));
    }
    temporary.clear();
    sync_folder(folder_of(target.path));
    return {};
  }
};

OutputFile::OutputFile(std::unique_ptr<State> state) : m_state(std::move(state)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::create(const std::string& path) {
  Result<Target> target = resolve(path);
  if (!target) return target.error();
  auto state = std::make_unique<State>();
  state->path = path;
  state->target = *std::move(target);
  if (state->target.in_place) {
    Result<FileDescriptor> fd = open_in_place(path, state->target);
    if (!fd) return fd.error();
    state->fd = *std::move(fd);
    return OutputFile(std::move(state));
  }
  const std::string folder = folder_of(state->target.path);
  const std::string prefix = temporary_prefix(state->target.path);
  sweep(folder, prefix);
  const std::string temporary = folder + prefix + std::to_string(::getpid()) + ".tmp";
  Result<FileDescriptor> fd = open_temporary(path, temporary, state->target.existing);
  if (!fd) return fd.error();
  state->fd = *std::move(fd);
  state->temporary = temporary;
  return OutputFile(std::move(state));
}

Result<void> OutputFile::write(std::string_view bytes) {
  if (m_state->failed) return *m_state->failed;
  if (m_state->committed) return Error{Errc::usage, m_state->path, "is written already"};
  if (m_state->buffer.size() + bytes.size() >= buffer_bytes) {
    if (Result<void> flushed = flush(); !flushed) return flushed;
  }
  if (bytes.size() >= buffer_bytes) return m_state->put(bytes);
  m_state->buffer.append(bytes);
  return {};
}

Result<void> OutputFile::flush() {
  if (m_state->failed) return *m_state->failed;
  Result<void> done = m_state->put(m_state->buffer);
  m_state->buffer.clear();
  return done;
}

Result<void> OutputFile::commit() {
  if (m_state->committed) return Error{Errc::usage, m_state->path, "is written already"};
  Result<void> done = flush();
  if (done) done = m_state->sync_and_close();
  if (done && !m_state->target.in_place) done = m_state->replace_target();
  m_state->committed = done.ok();
  return done;
}

void ignore_fatal_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace detdiff
