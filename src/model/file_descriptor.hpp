#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "detdiff/result.hpp"

namespace detdiff {

/// Owns one file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : m_fd(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      close();
      m_fd = std::exchange(other.m_fd, -1);
    }
    return *this;
  }
  ~FileDescriptor() { close(); }

  [[nodiscard]] int get() const { return m_fd; }
  [[nodiscard]] bool valid() const { return m_fd >= 0; }

  /// Closes now and returns 0 or the errno: network file systems report a failed write only here.
  /// EINTR counts as closed, as the descriptor is gone.
  int close() {
    const int fd = std::exchange(m_fd, -1);
    return fd < 0 || ::close(fd) == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int m_fd = -1;
};

/// An Errc::io error whose message is `what`, a colon, and the system's text for `error_number`.
inline Error system_error(std::string where, std::string what, int error_number) {
  return Error{Errc::io, std::move(where),
               std::move(what) + ": " + std::generic_category().message(error_number)};
}

}  // namespace detdiff
