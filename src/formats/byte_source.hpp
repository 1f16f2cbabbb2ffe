#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "detdiff/result.hpp"

namespace detdiff {

/// Bytes that one system call reads. Larger blocks fall out of the second-level cache and are
/// slower; files are never mapped, because a file that is cut while mapped kills the process.
inline constexpr std::size_t block_bytes = std::size_t{128} << 10;

/// Limits; every one is stated in the manual and can be raised by a flag.
struct ByteLimits {
  /// Bytes of the longest line a reader accepts.
  std::size_t max_line = std::size_t{16} << 20;
  /// Base-2 logarithm of the largest window a zstd frame may ask for; memory grows up to it.
  int zstd_window_log = 27;
  /// Decoded bytes that one input may have; 0 is no limit.
  std::uint64_t max_bytes = 0;
};

/// How the bytes of an input are packed. Magic bytes decide, never names.
enum class Compression { none, zstd, gzip };

/// What was opened, as fstat saw it. Bytes in memory have no device and no inode; a pipe has size
/// 0.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  /// Last modification in nanoseconds since the epoch.
  std::int64_t mtime_ns = 0;
  bool regular = false;
};

/// A sequential stream of decoded bytes. It belongs to one thread.
class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  /// Fills up to `out.size()` bytes and returns how many; 0 only at the end, or for an empty `out`.
  ///
  /// A reader has seen a whole input only after read() returned 0: the checks of the end (was the
  /// file cut, changed or replaced, did the compressed data end inside a frame) run there, and fail
  /// with an Error instead of returning 0. Requests of at least `block_bytes` of a plain file are
  /// read straight into `out`. Once an Error was returned, the next read() returns it again.
  virtual Result<std::size_t> read(std::span<char> out) = 0;

  /// Bytes of the file consumed so far, before decoding (for progress).
  [[nodiscard]] virtual std::uint64_t raw_position() const = 0;

  /// True when the compressed data ended inside a frame (a torn tail, normal for a crashed run);
  /// valid after read() returned 0. Data cut exactly between two frames cannot be told from whole.
  [[nodiscard]] virtual bool truncated() const { return false; }

  /// True when the regular file was longer at the end than when its source was opened: only the
  /// bytes it had then were delivered. Valid after read() returned 0.
  [[nodiscard]] virtual bool grew() const { return false; }

  /// True when the path led to another file, or to none, by the time the end was reached; what was
  /// delivered is the file that was opened. Valid after read() returned 0.
  [[nodiscard]] virtual bool replaced() const { return false; }

  /// Moves to an offset in the decoded bytes; an offset behind the end means the end. Plain files
  /// seek; compressed ones decode what lies between, from the start when moving backwards.
  virtual Result<void> seek(std::uint64_t decoded_offset) = 0;
};

/// One input that can be opened many times: a plain or compressed file, bytes in memory, standard
/// input or a pipe. Open streams are independent of each other and of the source; open() may be
/// called from several threads. A file's source holds no descriptor, a pipe's holds two.
class ByteSource {
 public:
  /// Opens the bytes as they are stored.
  using OpenRaw = std::function<Result<std::unique_ptr<ByteStream>>()>;

  /// Reads the first bytes through `open_raw` to find the compression, and fails as they do.
  static Result<std::shared_ptr<ByteSource>> create(std::string name, FileIdentity identity,
                                                    const ByteLimits& limits, OpenRaw open_raw);

  /// The path as the user named it; errors carry it in `where`.
  [[nodiscard]] const std::string& name() const { return m_name; }
  [[nodiscard]] const FileIdentity& identity() const { return m_identity; }
  [[nodiscard]] Compression compression() const { return m_compression; }
  [[nodiscard]] const ByteLimits& limits() const { return m_limits; }

  /// A stream at the first decoded byte. Every stream of one source delivers the same bytes, those
  /// that the file had when the source was opened, or an Error: Errc::io when the file was
  /// replaced, cut or changed since.
  [[nodiscard]] Result<std::unique_ptr<ByteStream>> open() const;

  /// The bytes as they are stored, to compare compressed files without decoding them.
  [[nodiscard]] Result<std::unique_ptr<ByteStream>> open_raw() const { return m_open_raw(); }

  /// The first decoded bytes, `count` of them or fewer at the end (for sniffing).
  [[nodiscard]] Result<std::string> head(std::size_t count) const;

 private:
  ByteSource(std::string name, FileIdentity identity, const ByteLimits& limits, OpenRaw open_raw)
      : m_name(std::move(name)),
        m_identity(identity),
        m_limits(limits),
        m_open_raw(std::move(open_raw)) {}

  std::string m_name;
  FileIdentity m_identity;
  ByteLimits m_limits;
  OpenRaw m_open_raw;
  Compression m_compression = Compression::none;
};

/// Opens what the user named; "-" is standard input.
///
/// Accepts regular files and pipes, and as standard input anything that can be read. Folders,
/// devices and sockets are Errc::usage, what the system refuses is Errc::io. A pipe is copied into
/// an unlinked file in $TMPDIR (or the system's folder for temporary files) as far as it was read,
/// so that it can be opened again. A pipe without a writer waits for one until
/// interrupt_requested(), which gives Errc::interrupted.
///
/// A regular file of size 0 that has content nevertheless (as in /proc) has unknown length and is
/// read to wherever it ends.
Result<std::shared_ptr<ByteSource>> open_source(const std::string& path, const ByteLimits& limits);

/// Bytes in memory as an input, for tests and fuzzing. `name` stands in errors.
std::shared_ptr<ByteSource> memory_source(std::string name, std::string bytes,
                                          const ByteLimits& limits);

}  // namespace detdiff
