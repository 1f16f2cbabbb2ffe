#include "formats/file_stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "model/interrupt.hpp"
#include "support/catch.hpp"
#include "support/read_stream.hpp"
#include "support/temp_dir.hpp"

using namespace detdiff;
using namespace detdiff::test;

namespace {

/// Calls of the reading function so far; the functions below fail by it.
int calls = 0;

std::unique_ptr<ByteStream> open_with(const std::string& path, ReadAt read_at) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  calls = 0;
  auto stream = open_file_stream(path, identity_of(info), read_at);
  REQUIRE(stream.ok());
  return *std::move(stream);
}

ssize_t fail(int reason) {
  errno = reason;
  return -1;
}

}  // namespace

TEST_CASE("interrupted system calls are repeated", "[bytes]") {
  const TempDir dir;
  const std::string text = numbered_lines(2 * block_bytes + 5);
  const auto stream =
      open_with(dir.write("a", text), [](int fd, void* to, std::size_t count, off_t at) -> ssize_t {
        return ++calls % 3 != 0 ? fail(EINTR) : ::pread(fd, to, count, at);
      });
  const ReadOutcome outcome = read_to_end(*stream);
  CHECK(outcome.clean());
  CHECK((outcome.bytes == text));
  CHECK(calls >= 9);
}

TEST_CASE("an interrupted system call with a request to stop ends the read", "[bytes]") {
  const TempDir dir;
  const auto stream =
      open_with(dir.write("a", "text"), [](int, void*, std::size_t, off_t) -> ssize_t {
        interrupt_requested() = true;
        return fail(EINTR);
      });
  const ReadOutcome outcome = read_to_end(*stream);
  interrupt_requested() = false;
  REQUIRE(outcome.error);
  CHECK(outcome.error->code == Errc::interrupted);
}

TEST_CASE("short reads are taken up again", "[bytes]") {
  const TempDir dir;
  const std::string text = numbered_lines(2 * block_bytes + 5);
  const ReadAt short_reads = [](int fd, void* to, std::size_t count, off_t at) {
    ++calls;
    return ::pread(fd, to, std::min(count, static_cast<std::size_t>(calls * 37 % 1001 + 1)), at);
  };
  const auto stream = open_with(dir.write("a", text), short_reads);
  std::string block(block_bytes, '\0');
  CHECK(*stream->read(block) == block_bytes);
  CHECK(calls > 100);
  CHECK((block + read_to_end(*stream).bytes == text));
  REQUIRE(stream->seek(0).ok());
  CHECK((read_to_end(*stream, 100).bytes == text));
}

TEST_CASE("a read that says end too early is no end", "[bytes][trap]") {
  const TempDir dir;
  const std::string text = numbered_lines(4 * block_bytes);
  const auto stream =
      open_with(dir.write("a", text), [](int fd, void* to, std::size_t count, off_t at) -> ssize_t {
        return ++calls == 3 ? 0 : ::pread(fd, to, count, at);
      });
  const ReadOutcome outcome = read_to_end(*stream);
  CHECK(outcome.bytes.size() == 2 * block_bytes);
  REQUIRE(outcome.error);
  CHECK(outcome.error->message == "truncated while being read (262144 of 524288 bytes)");
  CHECK(read_to_end(*stream).error);
}

TEST_CASE("a failing read says at which byte and why", "[bytes]") {
  const TempDir dir;
  const std::string path = dir.write("a", numbered_lines(2 * block_bytes));
  const auto stream = open_with(path, [](int fd, void* to, std::size_t count, off_t at) -> ssize_t {
    constexpr off_t bad = 1000;
    return at >= bad ? fail(EIO)
                     : ::pread(fd, to, std::min(count, static_cast<std::size_t>(bad - at)), at);
  });
  const ReadOutcome outcome = read_to_end(*stream);
  CHECK(outcome.bytes.size() == 1000);
  REQUIRE(outcome.error);
  CHECK(outcome.error->where == path);
  CHECK(outcome.error->code == Errc::io);
  CHECK(outcome.error->message == "cannot read at byte 1000: Input/output error");
}

TEST_CASE("a stale handle is opened again once", "[bytes]") {
  const TempDir dir;
  const std::string text = numbered_lines(3 * block_bytes);
  const std::string path = dir.write("a", text);
  const ReadAt stale_once = [](int fd, void* to, std::size_t count, off_t at) -> ssize_t {
    return ++calls == 2 ? fail(ESTALE) : ::pread(fd, to, count, at);
  };
  SECTION("the same file") { CHECK((read_to_end(*open_with(path, stale_once)).bytes == text)); }
  SECTION("another file") {
    const auto stream = open_with(path, stale_once);
    std::filesystem::rename(dir.write("b", text), path);
    CHECK(read_to_end(*stream).error);
  }
  SECTION("stale for good") {
    const auto stream = open_with(
        path, [](int, void*, std::size_t, off_t) -> ssize_t { return ++calls, fail(ESTALE); });
    CHECK(read_to_end(*stream).error->message.find("cannot read at byte 0: Stale") == 0);
    CHECK(calls == 2);
  }
}
