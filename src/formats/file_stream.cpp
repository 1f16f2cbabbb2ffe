#include "formats/file_stream.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "model/interrupt.hpp"

namespace detdiff {
namespace {

constexpr std::size_t max_read = std::size_t{1} << 30;
constexpr int poll_ms = 100;

bool same_file(const FileIdentity& a, const FileIdentity& b) {
  return a.device == b.device && a.inode == b.inode;
}

bool has_content_despite_size(int fd, ReadAt read_at) {
  char byte = 0;
  struct stat info {};
  return read_at(fd, &byte, 1, 0) == 1 && ::fstat(fd, &info) == 0 && info.st_size == 0;
}

Error truncated_error(const std::string& name, std::uint64_t found, std::uint64_t expected) {
  return Error{Errc::io, name,
               "truncated while being read (" + std::to_string(found) + " of " +
                   std::to_string(expected) + " bytes)"};
}

Error changed_error(const std::string& name) {
  return Error{Errc::io, name, "changed while being read"};
}

Result<FileDescriptor> open_temporary(const std::string& name) {
  const char* variable = std::getenv("TMPDIR");
  const std::string folder = variable != nullptr && *variable != '\0' ? variable : "/tmp";
  FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.valid()) {
    std::string path = folder + "/.detdiff.XXXXXX";
    file = FileDescriptor(::mkostemp(path.data(), O_CLOEXEC));
    if (!file.valid()) {
      Error error = system_error(name, "cannot make a temporary file in " + folder, errno);
      error.hint = "set TMPDIR to a folder that can be written";
      return error;
    }
    ::unlink(path.c_str());
  }
  return file;
}

}  // namespace

FileIdentity identity_of(const struct stat& info) {
  FileIdentity identity;
  identity.device = info.st_dev;
  identity.inode = info.st_ino;
  identity.regular = S_ISREG(info.st_mode);
  identity.size = identity.regular ? static_cast<std::uint64_t>(info.st_size) : 0;
  identity.mtime_ns =
      std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + std::int64_t{info.st_mtim.tv_nsec};
  return identity;
}

const char* file_kind(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a file";
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a pipe";
    case S_IFSOCK:
      return "a socket";
    case S_IFLNK:
      return "a symbolic link";
    default:
      return "a device";
  }
}

Result<FileDescriptor> open_for_reading(const std::string& path) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  } while (fd < 0 && errno == EINTR && !interrupt_requested());
  if (fd >= 0) return FileDescriptor(fd);
  const int reason = errno;
  if (reason == EINTR) return interrupted_error(path);
  struct stat info {};
  if (reason == ENXIO && ::stat(path.c_str(), &info) == 0) {
    return Error{Errc::usage, path,
                 std::string("expected a file, found ") + file_kind(info.st_mode)};
  }
  return system_error(path, "cannot open", reason);
}

FileStream::FileStream(std::shared_ptr<const FileDescriptor> fd, std::string name, std::string path,
                       const FileIdentity& identity, ReadAt read_at)
    : m_fd(std::move(fd)),
      m_name(std::move(name)),
      m_path(std::move(path)),
      m_identity(identity),
      m_read_at(read_at) {
  ::posix_fadvise(m_fd->get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  m_length_known = m_identity.size != 0 || !has_content_despite_size(m_fd->get(), m_read_at);
}

Result<std::size_t> FileStream::read(std::span<char> out) {
  if (interrupt_requested()) return interrupted_error(m_name);
  if (out.empty()) return std::size_t{0};
  if (m_begin == m_end) {
    if (out.size() >= block_bytes) return fetch_or_end(out);
    m_buffer.resize(block_bytes);
    Result<std::size_t> got = fetch_or_end(m_buffer);
    if (!got || *got == 0) return got;
    m_begin = 0;
    m_end = *got;
  }
  const std::size_t count = std::min(out.size(), m_end - m_begin);
  std::memcpy(out.data(), m_buffer.data() + m_begin, count);
  m_begin += count;
  return count;
}

Result<std::size_t> FileStream::fetch_or_end(std::span<char> out) {
  if (m_error) return *m_error;
  Result<std::size_t> got = fetch(out);
  if (got && *got == 0) got = finish();
  if (!got) m_error = got.error();
  return got;
}

Result<std::size_t> FileStream::fetch(std::span<char> out) {
  std::uint64_t wanted = out.size();
  if (m_length_known) wanted = std::min(wanted, m_identity.size - m_offset);
  std::size_t got = 0;
  while (got < wanted) {
    const std::size_t count = std::min(static_cast<std::size_t>(wanted) - got, max_read);
    const ssize_t n = m_read_at(m_fd->get(), out.data() + got, count, static_cast<off_t>(m_offset));
    if (n > 0) {
      got += static_cast<std::size_t>(n);
      m_offset += static_cast<std::uint64_t>(n);
      continue;
    }
    if (n == 0) break;
    const int reason = errno;
    if (reason == EINTR && !interrupt_requested()) continue;
    if (reason == EINTR) return interrupted_error(m_name);
    if (reason == ESTALE && reopen_stale()) continue;
    if (got > 0) break;
    return system_error(m_name, "cannot read at byte " + std::to_string(m_offset), reason);
  }
  return got;
}

Result<std::size_t> FileStream::finish() {
  if (!m_length_known) return std::size_t{0};
  struct stat info {};
  if (::fstat(m_fd->get(), &info) != 0) return system_error(m_name, "cannot examine", errno);
  const FileIdentity now = identity_of(info);
  const std::uint64_t found = std::min(m_offset, now.size);
  if (found < m_identity.size) return truncated_error(m_name, found, m_identity.size);
  m_grew = now.size > m_identity.size;
  if (!m_grew && now.mtime_ns != m_identity.mtime_ns) return changed_error(m_name);
  m_replaced = !m_path.empty() &&
               (::stat(m_path.c_str(), &info) != 0 || !same_file(identity_of(info), m_identity));
  return std::size_t{0};
}

bool FileStream::reopen_stale() {
  if (m_reopened || m_path.empty()) return false;
  m_reopened = true;
  Result<FileDescriptor> again = open_for_reading(m_path);
  struct stat info {};
  if (!again || ::fstat(again->get(), &info) != 0) return false;
  const FileIdentity now = identity_of(info);
  if (!same_file(now, m_identity) || now.size < m_identity.size) return false;
  m_fd = std::make_shared<const FileDescriptor>(*std::move(again));
  return true;
}

Result<void> FileStream::seek(std::uint64_t decoded_offset) {
  m_offset = m_length_known ? std::min(decoded_offset, m_identity.size) : decoded_offset;
  m_begin = m_end = 0;
  m_error.reset();
  return {};
}

Result<std::unique_ptr<ByteStream>> open_file_stream(const std::string& path,
                                                     const FileIdentity& expected, ReadAt read_at) {
  Result<FileDescriptor> fd = open_for_reading(path);
  if (!fd) return fd.error();
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return system_error(path, "cannot examine", errno);
  const FileIdentity now = identity_of(info);
  if (!same_file(now, expected)) {
    return Error{Errc::io, path, "replaced by another file while being read"};
  }
  if (now.size < expected.size) return truncated_error(path, now.size, expected.size);
  if (expected.size > 0 && now.size == expected.size && now.mtime_ns != expected.mtime_ns) {
    return changed_error(path);
  }
  return std::unique_ptr<ByteStream>(std::make_unique<FileStream>(
      std::make_shared<const FileDescriptor>(*std::move(fd)), path, path, expected, read_at));
}

Result<std::shared_ptr<Spool>> Spool::create(FileDescriptor from, std::string name) {
  Result<FileDescriptor> copy = open_temporary(name);
  if (!copy) return copy.error();
  return std::make_shared<Spool>(std::move(from), *std::move(copy), std::move(name));
}

Result<std::size_t> Spool::read_at(std::uint64_t offset, std::span<char> out) {
  const std::lock_guard lock(m_mutex);
  std::vector<char> passed;
  while (offset > m_size && !m_ended) {
    passed.resize(block_bytes);
    Result<std::size_t> got = pull(std::span(passed).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, offset - m_size))));
    if (!got) return got;
  }
  if (out.empty() || (m_ended && offset >= m_size)) return std::size_t{0};
  if (offset == m_size) return pull(out);
  const std::size_t count = static_cast<std::size_t>(
      std::min<std::uint64_t>(std::min(out.size(), max_read), m_size - offset));
  ssize_t n = 0;
  do {
    n = ::pread(m_copy.get(), out.data(), count, static_cast<off_t>(offset));
  } while (n < 0 && errno == EINTR && !interrupt_requested());
  if (n > 0) return static_cast<std::size_t>(n);
  if (n < 0 && errno == EINTR) return interrupted_error(m_name);
  return system_error(m_name, "cannot read its temporary copy", n < 0 ? errno : EIO);
}

Result<std::size_t> Spool::pull(std::span<char> out) {
  if (m_error) return *m_error;
  Result<std::size_t> got = read_pipe(out);
  if (got) {
    m_ended = *got == 0;
    if (const Result<void> kept = keep(out.first(*got)); !kept) got = kept.error();
  }
  if (!got) m_error = got.error();
  return got;
}

Result<std::size_t> Spool::read_pipe(std::span<char> out) const {
  while (true) {
    if (const Result<void> ready = wait_readable(); !ready) return ready.error();
    const ssize_t n = ::read(m_from.get(), out.data(), std::min(out.size(), max_read));
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR && errno != EAGAIN) {
      return system_error(m_name, "cannot read at byte " + std::to_string(m_size), errno);
    }
  }
}

Result<void> Spool::wait_readable() const {
  struct pollfd wait {};
  wait.fd = m_from.get();
  wait.events = POLLIN;
  while (true) {
    if (interrupt_requested()) return interrupted_error(m_name);
    const int ready = ::poll(&wait, 1, poll_ms);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return system_error(m_name, "cannot wait for data", errno);
  }
}

Result<void> Spool::keep(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t n =
        ::pwrite(m_copy.get(), bytes.data(), bytes.size(), static_cast<off_t>(m_size));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      Error error = system_error(m_name, "cannot write a temporary copy", errno);
      error.hint = "set TMPDIR to a folder with more room";
      return error;
    }
    m_size += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Result<std::size_t> SpoolStream::read(std::span<char> out) {
  if (interrupt_requested()) return interrupted_error(m_spool->name());
  Result<std::size_t> got = m_spool->read_at(m_offset, out);
  if (got) m_offset += *got;
  return got;
}

Result<void> SpoolStream::seek(std::uint64_t decoded_offset) {
  m_offset = decoded_offset;
  return {};
}

}  // namespace detdiff
