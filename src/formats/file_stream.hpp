#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "detdiff/result.hpp"
#include "formats/byte_source.hpp"
#include "model/file_descriptor.hpp"

namespace detdiff {

/// Reads at an offset as pread does; tests put failing and short reads in its place.
using ReadAt = ssize_t (*)(int fd, void* to, std::size_t count, off_t offset);

/// What fstat or stat found, as an identity.
FileIdentity identity_of(const struct stat& info);

/// "a folder", "a socket", ... for a message.
const char* file_kind(mode_t mode);

/// open() for reading that never blocks and never becomes a controlling terminal; fails with the
/// system's reason.
Result<FileDescriptor> open_for_reading(const std::string& path);

/// A regular file. Interrupted and short reads are taken up again; an early end is an error.
///
/// At the end the descriptor is looked at again: fewer bytes than `identity.size` are Errc::io
/// "truncated while being read", the same number with another modification time is "changed while
/// being read", more is grew(). A stale handle (NFS) is opened again once, if the path still leads
/// to the same inode with at least the same size.
class FileStream : public ByteStream {
 public:
  /// Reads `fd`, which other streams may share, because the offset is kept here. `path` is empty
  /// where the descriptor was inherited and no name is to be looked at again.
  FileStream(std::shared_ptr<const FileDescriptor> fd, std::string name, std::string path,
             const FileIdentity& identity, ReadAt read_at = ::pread);

  Result<std::size_t> read(std::span<char> out) override;
  [[nodiscard]] std::uint64_t raw_position() const override { return m_offset; }
  [[nodiscard]] bool grew() const override { return m_grew; }
  [[nodiscard]] bool replaced() const override { return m_replaced; }
  Result<void> seek(std::uint64_t decoded_offset) override;

 private:
  Result<std::size_t> fetch(std::span<char> out);
  Result<std::size_t> fetch_or_end(std::span<char> out);
  Result<std::size_t> finish();
  bool reopen_stale();

  std::shared_ptr<const FileDescriptor> m_fd;
  std::string m_name;
  std::string m_path;
  FileIdentity m_identity;
  ReadAt m_read_at;
  bool m_length_known = true;
  bool m_reopened = false;
  bool m_grew = false;
  bool m_replaced = false;
  std::optional<Error> m_error;
  std::uint64_t m_offset = 0;
  std::vector<char> m_buffer;
  std::size_t m_begin = 0;
  std::size_t m_end = 0;
};

/// Opens `path` again and checks that it still is the file `expected`: another inode, fewer bytes,
/// or another modification time at the same size is Errc::io.
Result<std::unique_ptr<ByteStream>> open_file_stream(const std::string& path,
                                                     const FileIdentity& expected,
                                                     ReadAt read_at = ::pread);

/// Keeps what was read from a pipe in an unlinked temporary file. Several streams, on several
/// threads, may read it; whoever is first at the end of the copy pulls from the pipe.
class Spool {
 public:
  /// Takes the pipe `from`. Errc::io, with a hint on TMPDIR, when no temporary file can be made.
  static Result<std::shared_ptr<Spool>> create(FileDescriptor from, std::string name);

  Spool(FileDescriptor from, FileDescriptor copy, std::string name)
      : m_from(std::move(from)), m_copy(std::move(copy)), m_name(std::move(name)) {}

  [[nodiscard]] const std::string& name() const { return m_name; }

  /// Up to `out.size()` bytes at `offset`, 0 only at the end of the pipe. Waits for a writer and
  /// for bytes until interrupt_requested().
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out);

 private:
  Result<std::size_t> pull(std::span<char> out);
  Result<std::size_t> read_pipe(std::span<char> out) const;
  Result<void> wait_readable() const;
  Result<void> keep(std::span<const char> bytes);

  std::mutex m_mutex;
  FileDescriptor m_from;
  FileDescriptor m_copy;
  std::string m_name;
  std::uint64_t m_size = 0;
  bool m_ended = false;
  std::optional<Error> m_error;
};

/// The bytes of a spooled pipe.
class SpoolStream : public ByteStream {
 public:
  explicit SpoolStream(std::shared_ptr<Spool> spool) : m_spool(std::move(spool)) {}

  Result<std::size_t> read(std::span<char> out) override;
  [[nodiscard]] std::uint64_t raw_position() const override { return m_offset; }
  Result<void> seek(std::uint64_t decoded_offset) override;

 private:
  std::shared_ptr<Spool> m_spool;
  std::uint64_t m_offset = 0;
};

}  // namespace detdiff
