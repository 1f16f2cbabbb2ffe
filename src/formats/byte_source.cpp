#include "formats/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "formats/decompress.hpp"
#include "formats/file_stream.hpp"
#include "model/file_descriptor.hpp"

namespace detdiff {
namespace {

class MemoryStream : public ByteStream {
 public:
  explicit MemoryStream(std::shared_ptr<const std::string> bytes) : m_bytes(std::move(bytes)) {}

  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t count = std::min(out.size(), m_bytes->size() - m_offset);
    std::copy_n(m_bytes->data() + m_offset, count, out.data());
    m_offset += count;
    return count;
  }

  [[nodiscard]] std::uint64_t raw_position() const override { return m_offset; }

  Result<void> seek(std::uint64_t decoded_offset) override {
    m_offset = static_cast<std::size_t>(std::min<std::uint64_t>(decoded_offset, m_bytes->size()));
    return {};
  }

 private:
  std::shared_ptr<const std::string> m_bytes;
  std::size_t m_offset = 0;
};

class LimitedStream : public ByteStream {
 public:
  LimitedStream(std::unique_ptr<ByteStream> inner, std::string name, std::uint64_t limit)
      : m_inner(std::move(inner)), m_name(std::move(name)), m_limit(limit) {}

  Result<std::size_t> read(std::span<char> out) override {
    if (m_exceeded) return exceeded();
    if (out.empty()) return std::size_t{0};
    const std::uint64_t left = m_limit - m_position;
    if (left == 0) {
      char probe = 0;
      Result<std::size_t> more = m_inner->read(std::span(&probe, 1));
      if (!more || *more == 0) return more;
      m_exceeded = true;
      return exceeded();
    }
    const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), left));
    Result<std::size_t> got = m_inner->read(out.first(count));
    if (got) m_position += *got;
    return got;
  }

  [[nodiscard]] std::uint64_t raw_position() const override { return m_inner->raw_position(); }
  [[nodiscard]] bool truncated() const override { return m_inner->truncated(); }
  [[nodiscard]] bool grew() const override { return m_inner->grew(); }
  [[nodiscard]] bool replaced() const override { return m_inner->replaced(); }

  Result<void> seek(std::uint64_t decoded_offset) override {
    m_exceeded = decoded_offset > m_limit;
    m_position = std::min(decoded_offset, m_limit);
    return m_inner->seek(m_position);
  }

 private:
  [[nodiscard]] Error exceeded() const {
    return Error{Errc::limit, m_name, "more than " + std::to_string(m_limit) + " bytes of content",
                 "raise --max-bytes"};
  }

  std::unique_ptr<ByteStream> m_inner;
  std::string m_name;
  std::uint64_t m_limit;
  std::uint64_t m_position = 0;
  bool m_exceeded = false;
};

Result<std::string> read_head(ByteStream& stream, std::size_t count) {
  std::string head;
  std::size_t filled = 0;
  while (filled < count) {
    head.resize(std::min(count, filled + block_bytes));
    const Result<std::size_t> got = stream.read(std::span(head).subspan(filled));
    if (!got) return got.error();
    if (*got == 0) break;
    filled += *got;
  }
  head.resize(filled);
  return head;
}

Result<std::shared_ptr<ByteSource>> spooled_source(FileDescriptor fd, const std::string& name,
                                                   const FileIdentity& identity,
                                                   const ByteLimits& limits) {
  Result<std::shared_ptr<Spool>> spool = Spool::create(std::move(fd), name);
  if (!spool) return spool.error();
  return ByteSource::create(
      name, identity, limits, [shared = *spool]() -> Result<std::unique_ptr<ByteStream>> {
        return std::unique_ptr<ByteStream>(std::make_unique<SpoolStream>(shared));
      });
}

Result<std::shared_ptr<ByteSource>> standard_input(const std::string& name,
                                                   const ByteLimits& limits) {
  FileDescriptor fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) {
    return system_error(name, "cannot read standard input", errno);
  }
  if (S_ISDIR(info.st_mode)) {
    return Error{Errc::usage, name, "expected a file or a pipe as standard input, found a folder"};
  }
  const FileIdentity identity = identity_of(info);
  if (!identity.regular || ::lseek(fd.get(), 0, SEEK_CUR) != 0) {
    return spooled_source(std::move(fd), name, identity, limits);
  }
  return ByteSource::create(name, identity, limits,
                            [shared = std::make_shared<const FileDescriptor>(std::move(fd)), name,
                             identity]() -> Result<std::unique_ptr<ByteStream>> {
                              return std::unique_ptr<ByteStream>(std::make_unique<FileStream>(
                                  shared, name, std::string(), identity));
                            });
}

}  // namespace

Result<std::shared_ptr<ByteSource>> ByteSource::create(std::string name, FileIdentity identity,
                                                       const ByteLimits& limits, OpenRaw open_raw) {
  std::shared_ptr<ByteSource> source(
      new ByteSource(std::move(name), identity, limits, std::move(open_raw)));
  Result<std::unique_ptr<ByteStream>> raw = source->m_open_raw();
  if (!raw) return raw.error();
  const Result<std::string> head = read_head(**raw, magic_bytes);
  if (!head) return head.error();
  source->m_compression = detect_compression(*head);
  return source;
}

Result<std::unique_ptr<ByteStream>> ByteSource::open() const {
  Result<std::unique_ptr<ByteStream>> stream = m_open_raw();
  if (stream && m_compression != Compression::none) {
    stream = decode(*std::move(stream), m_compression, m_name, m_limits);
  }
  if (stream && m_limits.max_bytes != 0) {
    return std::unique_ptr<ByteStream>(
        std::make_unique<LimitedStream>(*std::move(stream), m_name, m_limits.max_bytes));
  }
  return stream;
}

Result<std::string> ByteSource::head(std::size_t count) const {
  Result<std::unique_ptr<ByteStream>> stream = open();
  if (!stream) return stream.error();
  return read_head(**stream, count);
}

Result<std::shared_ptr<ByteSource>> open_source(const std::string& path, const ByteLimits& limits) {
  if (path == "-") return standard_input(path, limits);
  Result<FileDescriptor> fd = open_for_reading(path);
  if (!fd) return fd.error();
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return system_error(path, "cannot examine", errno);
  const FileIdentity identity = identity_of(info);
  if (S_ISFIFO(info.st_mode)) return spooled_source(*std::move(fd), path, identity, limits);
  if (!identity.regular) {
    return Error{Errc::usage, path,
                 std::string("expected a file, found ") + file_kind(info.st_mode)};
  }
  return ByteSource::create(path, identity, limits,
                            [path, identity] { return open_file_stream(path, identity); });
}

std::shared_ptr<ByteSource> memory_source(std::string name, std::string bytes,
                                          const ByteLimits& limits) {
  FileIdentity identity;
  identity.size = bytes.size();
  const auto shared = std::make_shared<const std::string>(std::move(bytes));
  return *ByteSource::create(
      std::move(name), identity, limits, [shared]() -> Result<std::unique_ptr<ByteStream>> {
        return std::unique_ptr<ByteStream>(std::make_unique<MemoryStream>(shared));
      });
}

}  // namespace detdiff
