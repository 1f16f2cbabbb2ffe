#include "formats/byte_source.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "model/interrupt.hpp"
#include "support/catch.hpp"
#include "support/read_stream.hpp"
#include "support/temp_dir.hpp"

using namespace detdiff;
using namespace detdiff::test;

namespace {

const ByteLimits defaults;

/// Puts a descriptor in the place of standard input for as long as it lives.
class StandardInput {
 public:
  explicit StandardInput(int fd) : m_saved(::dup(STDIN_FILENO)) {
    ::dup2(fd, STDIN_FILENO);
    ::close(fd);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;
  ~StandardInput() {
    ::dup2(m_saved, STDIN_FILENO);
    ::close(m_saved);
  }

 private:
  int m_saved;
};

/// Sets interrupt_requested() after some milliseconds and clears it at the end.
class LateInterrupt {
 public:
  explicit LateInterrupt(int milliseconds)
      : m_thread([milliseconds] {
          std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
          interrupt_requested() = true;
        }) {}
  LateInterrupt(const LateInterrupt&) = delete;
  LateInterrupt& operator=(const LateInterrupt&) = delete;
  ~LateInterrupt() {
    m_thread.join();
    interrupt_requested() = false;
  }

 private:
  std::thread m_thread;
};

std::string make_fifo(const TempDir& dir, const char* name) {
  std::string path = dir.path(name);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  return path;
}

/// Opens a pipe for writing, writes in pieces, closes.
std::thread fifo_writer(const std::string& path, std::string bytes, std::size_t piece) {
  return std::thread([path, bytes = std::move(bytes), piece] {
    const int fd = ::open(path.c_str(), O_WRONLY);
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t n = ::write(fd, bytes.data() + at, std::min(piece, bytes.size() - at));
      if (n <= 0) break;
      at += static_cast<std::size_t>(n);
    }
    ::close(fd);
  });
}

void set_mtime(const std::string& path, std::time_t seconds) {
  const std::array<timespec, 2> times{timespec{seconds, 0}, timespec{seconds, 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0) == 0);
}

}  // namespace

TEST_CASE("a plain file is read whole with requests of any size", "[bytes]") {
  const TempDir dir;
  const std::string text = numbered_lines(3 * block_bytes + 17);
  const std::string path = dir.write("a.jsonl", text);
  const auto source = open_source(path, defaults);
  REQUIRE(source.ok());
  CHECK((*source)->name() == path);
  CHECK((*source)->compression() == Compression::none);
  CHECK((*source)->identity().size == text.size());
  CHECK((*source)->identity().regular);
  for (const std::size_t request :
       {std::size_t{61}, std::size_t{4096}, block_bytes, 2 * block_bytes, 10 * block_bytes}) {
    const ReadOutcome outcome = read_source(**source, request);
    CHECK(outcome.clean());
    CHECK_FALSE(outcome.grew);
    CHECK_FALSE(outcome.replaced);
    CHECK((outcome.bytes == text));
  }
}

TEST_CASE("streams of one source are independent and seek", "[bytes]") {
  const TempDir dir;
  const std::string text = numbered_lines(2 * block_bytes);
  const auto source = open_source(dir.write("a", text), defaults);
  REQUIRE(source.ok());
  const auto first = (*source)->open();
  const auto second = (*source)->open();
  REQUIRE((first.ok() && second.ok()));
  std::array<char, 10> some{};
  REQUIRE((*first)->read(some).ok());
  REQUIRE((*second)->seek(text.size() - 5).ok());
  CHECK((read_to_end(**second).bytes == text.substr(text.size() - 5)));
  CHECK((read_to_end(**first, 100).bytes == text.substr(10)));
  CHECK((*first)->raw_position() == text.size());
  REQUIRE((*first)->seek(3).ok());
  CHECK((read_to_end(**first, 7).bytes == text.substr(3)));
  REQUIRE((*first)->seek(text.size() * 5).ok());
  CHECK(read_to_end(**first).bytes.empty());
  CHECK((*(*source)->head(12) == text.substr(0, 12)));
  CHECK(*(*source)->head(text.size() * 2) == text);
}

TEST_CASE("a file that is cut while open is an error with both numbers", "[bytes][trap]") {
  const TempDir dir;
  const std::string text = numbered_lines(3 * block_bytes);
  const std::string path = dir.write("a", text);
  const auto source = open_source(path, defaults);
  REQUIRE(source.ok());
  const auto stream = (*source)->open();
  REQUIRE(stream.ok());
  std::string buffer(block_bytes, '\0');
  REQUIRE(*(*stream)->read(buffer) == block_bytes);

  SECTION("behind the position") { std::filesystem::resize_file(path, 2 * block_bytes + 5); }
  SECTION("before the position") { std::filesystem::resize_file(path, 2 * block_bytes + 5 - 7); }
  const std::uint64_t left = std::filesystem::file_size(path);
  const std::string message = "truncated while being read (" + std::to_string(left) + " of " +
                              std::to_string(text.size()) + " bytes)";
  const ReadOutcome outcome = read_to_end(**stream);
  REQUIRE(outcome.error);
  CHECK(outcome.error->code == Errc::io);
  CHECK(outcome.error->where == path);
  CHECK(outcome.error->message == message);
  CHECK((*stream)->read(buffer).error().message == message);
  CHECK((*source)->open().error().message == message);
}

TEST_CASE("a file cut to nothing after it was read is still noticed", "[bytes][trap]") {
  const TempDir dir;
  const std::string path = dir.write("a", "four");
  const auto source = open_source(path, defaults);
  const auto stream = (*source)->open();
  std::array<char, 4> all{};
  REQUIRE(*(*stream)->read(all) == 4);
  std::filesystem::resize_file(path, 0);
  CHECK(read_to_end(**stream).error->message == "truncated while being read (0 of 4 bytes)");
}

TEST_CASE("of a file that grows only the size at open is read", "[bytes][trap]") {
  const TempDir dir;
  const std::string before = GENERATE(std::string(), numbered_lines(1000));
  const std::string path = dir.write("a", before);
  const auto source = open_source(path, defaults);
  const auto early = (*source)->open();
  write_file(path, before + "more\n");
  for (const ReadOutcome& outcome : {read_to_end(**early), read_source(**source)}) {
    CHECK(outcome.clean());
    CHECK(outcome.grew);
    CHECK((outcome.bytes == before));
  }
}

TEST_CASE("a replaced file is noticed and not mixed with the new one", "[bytes][trap]") {
  const TempDir dir;
  const std::string path = dir.write("a", "old text");
  const auto source = open_source(path, defaults);
  const auto stream = (*source)->open();
  SECTION("renamed over") {
    std::filesystem::rename(dir.write("b", "new text"), path);
    const auto again = (*source)->open();
    REQUIRE_FALSE(again.ok());
    CHECK(again.error().message == "replaced by another file while being read");
  }
  SECTION("removed") {
    std::filesystem::remove(path);
    CHECK((*source)->open().error().code == Errc::io);
  }
  const ReadOutcome outcome = read_to_end(**stream);
  CHECK((outcome.bytes == "old text"));
  CHECK(outcome.replaced);
}

TEST_CASE("a file rewritten at the same size is an error", "[bytes][trap]") {
  const TempDir dir;
  const std::string path = dir.write("a", "old text");
  set_mtime(path, 1'000'000'000);
  const auto source = open_source(path, defaults);
  const auto stream = (*source)->open();
  write_file(path, "new text");
  const ReadOutcome outcome = read_to_end(**stream);
  REQUIRE(outcome.error);
  CHECK(outcome.error->message == "changed while being read");
  CHECK((*source)->open().error().message == "changed while being read");
}

TEST_CASE("what is no file is refused at once", "[bytes][trap]") {
  const TempDir dir;
  CHECK(open_source(dir.path(), defaults).error().message == "expected a file, found a folder");
  CHECK(open_source("/dev/null", defaults).error().message == "expected a file, found a device");
  const std::string missing = dir.path("missing");
  const auto absent = open_source(missing, defaults);
  CHECK(absent.error().code == Errc::io);
  CHECK(absent.error().where == missing);
  CHECK(absent.error().message == "cannot open: No such file or directory");

  const std::string path = dir.path("socket");
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  const auto socket = open_source(path, defaults);
  ::close(listener);
  REQUIRE_FALSE(socket.ok());
  CHECK(socket.error().code == Errc::usage);
  CHECK(socket.error().message == "expected a file, found a socket");
}

TEST_CASE("a file in /proc has size 0 and content", "[bytes][trap]") {
  const std::string content = read_file("/proc/version");
  if (content.empty()) return;
  const auto source = open_source("/proc/version", defaults);
  REQUIRE(source.ok());
  CHECK((*source)->identity().size == 0);
  const ReadOutcome outcome = read_source(**source, 5);
  CHECK(outcome.clean());
  CHECK((outcome.bytes == content));
}

TEST_CASE("a named pipe is read as it is written and can be opened again", "[bytes][trap]") {
  const TempDir dir;
  const std::string path = make_fifo(dir, "pipe");
  const std::string text = numbered_lines(300'000);
  std::thread writer = fifo_writer(path, text, GENERATE(std::size_t{1000}, std::size_t{1} << 20));
  const auto source = open_source(path, defaults);
  REQUIRE(source.ok());
  CHECK_FALSE((*source)->identity().regular);
  const auto behind = (*source)->open();
  const auto ahead = (*source)->open();
  REQUIRE((*ahead)->seek(250'000).ok());
  CHECK((read_to_end(**ahead).bytes == text.substr(250'000)));
  writer.join();
  CHECK((read_to_end(**behind, 999).bytes == text));
  CHECK((read_source(**source).bytes == text));
  CHECK((*(*source)->head(4) == text.substr(0, 4)));
}

TEST_CASE("a pipe without a writer waits until it is interrupted", "[bytes][trap]") {
  const TempDir dir;
  const std::string path = make_fifo(dir, "pipe");
  const LateInterrupt interrupt(50);
  const auto source = open_source(path, defaults);
  REQUIRE_FALSE(source.ok());
  CHECK(source.error().code == Errc::interrupted);
  CHECK(source.error().where == path);
}

TEST_CASE("a pipe whose writer stops without closing is interrupted", "[bytes]") {
  const TempDir dir;
  const std::string path = make_fifo(dir, "pipe");
  const int fd = ::open(path.c_str(), O_RDWR);
  REQUIRE(::write(fd, "some text", 9) == 9);
  const auto source = open_source(path, defaults);
  REQUIRE(source.ok());
  const LateInterrupt interrupt(50);
  CHECK(read_source(**source).error->code == Errc::interrupted);
  ::close(fd);
}

TEST_CASE("a file stops being read when interrupted", "[bytes]") {
  const TempDir dir;
  const auto source = open_source(dir.write("a", "text"), defaults);
  const auto stream = (*source)->open();
  interrupt_requested() = true;
  CHECK(read_to_end(**stream).error->code == Errc::interrupted);
  interrupt_requested() = false;
}

TEST_CASE("standard input is a file, the rest of one, or a pipe", "[bytes]") {
  const TempDir dir;
  const std::string text = numbered_lines(100'000);
  const std::string path = dir.write("a", text);
  SECTION("a file is read in place") {
    const StandardInput input(::open(path.c_str(), O_RDONLY));
    const auto source = open_source("-", defaults);
    REQUIRE(source.ok());
    CHECK((*source)->identity().regular);
    CHECK((read_source(**source).bytes == text));
    CHECK((read_source(**source, 100).bytes == text));
    CHECK(::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0);
  }
  SECTION("what another program has read of it is not read again") {
    const StandardInput input(::open(path.c_str(), O_RDONLY));
    REQUIRE(::lseek(STDIN_FILENO, 10, SEEK_SET) == 10);
    const auto source = open_source("-", defaults);
    CHECK((read_source(**source).bytes == text.substr(10)));
    CHECK((read_source(**source).bytes == text.substr(10)));
  }
  SECTION("a pipe is kept") {
    const std::string fifo = make_fifo(dir, "pipe");
    std::thread writer = fifo_writer(fifo, text, 4096);
    const StandardInput input(::open(fifo.c_str(), O_RDONLY));
    const auto source = open_source("-", defaults);
    CHECK((read_source(**source).bytes == text));
    CHECK((read_source(**source).bytes == text));
    writer.join();
  }
  SECTION("nothing") {
    const StandardInput input(::open("/dev/null", O_RDONLY));
    const ReadOutcome outcome = read_source(**open_source("-", defaults));
    CHECK(outcome.clean());
    CHECK(outcome.bytes.empty());
  }
  SECTION("a folder") {
    const StandardInput input(::open(dir.path().c_str(), O_RDONLY));
    CHECK(open_source("-", defaults).error().code == Errc::usage);
  }
}

TEST_CASE("a pipe that cannot be kept says where to put it", "[bytes]") {
  const TempDir dir;
  const std::string path = make_fifo(dir, "pipe");
  const char* variable = std::getenv("TMPDIR");
  const std::string saved = variable != nullptr ? variable : "";
  ::setenv("TMPDIR", dir.path("missing").c_str(), 1);
  const auto source = open_source(path, defaults);
  if (saved.empty()) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", saved.c_str(), 1);
  }
  REQUIRE_FALSE(source.ok());
  CHECK(source.error().code == Errc::io);
  CHECK(source.error().hint.find("TMPDIR") != std::string::npos);
}

TEST_CASE("a pipe larger than the room for its copy is an error that stays", "[bytes]") {
  const TempDir dir;
  const int fd = ::open(make_fifo(dir, "pipe").c_str(), O_RDWR | O_NONBLOCK);
  const std::string text = numbered_lines(20'000);
  REQUIRE(::write(fd, text.data(), text.size()) == 20'000);
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit saved{};
  ::getrlimit(RLIMIT_FSIZE, &saved);
  const rlimit small{10'000, saved.rlim_max};
  const auto source = open_source(dir.path("pipe"), defaults);
  REQUIRE(source.ok());
  ::setrlimit(RLIMIT_FSIZE, &small);
  const ReadOutcome outcome = read_source(**source);
  ::setrlimit(RLIMIT_FSIZE, &saved);
  const ReadOutcome again = read_source(**source);
  ::close(fd);
  REQUIRE(outcome.error);
  CHECK(outcome.error->message == "cannot write a temporary copy: File too large");
  CHECK(outcome.error->hint.find("TMPDIR") != std::string::npos);
  REQUIRE(again.error);
  CHECK(again.error->message == outcome.error->message);
}

TEST_CASE("the limit of content is exact and names its flag", "[bytes]") {
  ByteLimits limits;
  limits.max_bytes = 1000;
  const std::string text = numbered_lines(1001);
  CHECK(read_memory(text.substr(0, 1000), limits, 30).clean());
  const ReadOutcome over = read_memory(text, limits);
  REQUIRE(over.error);
  CHECK(over.error->code == Errc::limit);
  CHECK(over.error->hint.find("--max-bytes") != std::string::npos);
  CHECK((over.bytes == text.substr(0, 1000)));

  const auto stream = memory_source("m", text, limits)->open();
  REQUIRE((*stream)->seek(999).ok());
  CHECK((read_to_end(**stream).bytes == text.substr(999, 1)));
  CHECK(read_to_end(**stream).error);
  REQUIRE((*stream)->seek(5).ok());
  CHECK((read_to_end(**stream).bytes == text.substr(5, 995)));
}
