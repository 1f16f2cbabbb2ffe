#include "model/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "model/interrupt.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace detdiff;
using namespace detdiff::test;
namespace fs = std::filesystem;

namespace {

Result<void> write_whole(const std::string& path, std::string_view bytes) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return file.error();
  if (Result<void> written = file->write(bytes); !written) return written;
  return file->commit();
}

std::string temporary(const std::string& folder, const std::string& name, pid_t process) {
  return folder + "/." + name + ".detdiff." + std::to_string(process) + ".tmp";
}

/// A process that does `work` and then waits to be killed; the caller goes on after `work`.
pid_t start_child(const std::function<void()>& work) {
  int done[2] = {-1, -1};
  REQUIRE(::pipe(done) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    if (::write(done[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  REQUIRE(::read(done[0], &byte, 1) == 1);
  ::close(done[0]);
  ::close(done[1]);
  return child;
}

void kill_child(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

unsigned mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return info.st_mode;
}

}  // namespace

TEST_CASE("a new file appears whole at the commit", "[output]") {
  const TempDir dir;
  const std::string path = dir.path("report.json");
  auto file = OutputFile::create(path);
  REQUIRE(file.ok());
  const std::string large(200'000, 'x');
  REQUIRE(file->write("begin ").ok());
  REQUIRE(file->write(large).ok());
  REQUIRE(file->write(" end").ok());
  REQUIRE(file->flush().ok());
  CHECK_FALSE(fs::exists(path));
  CHECK(fs::exists(temporary(dir.path(), "report.json", ::getpid())));
  REQUIRE(file->commit().ok());
  CHECK(read_file(path) == "begin " + large + " end");
  CHECK(dir.names().size() == 1);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  CHECK((mode_of(path) & 0777U) == (0666U & ~mask));
  CHECK(file->commit().error().code == Errc::usage);
  CHECK(file->write("x").error().code == Errc::usage);
}

TEST_CASE("an old file stays until the commit, and its permissions after it", "[output]") {
  const TempDir dir;
  const std::string path = dir.write("report.json", "old");
  fs::permissions(path, static_cast<fs::perms>(0640));
  {
    auto file = OutputFile::create(path);
    REQUIRE(file->write("new").ok());
    CHECK(read_file(path) == "old");
  }
  CHECK(read_file(path) == "old");
  CHECK(dir.names().size() == 1);
  REQUIRE(write_whole(path, "new").ok());
  CHECK(read_file(path) == "new");
  CHECK((mode_of(path) & 0777U) == 0640U);
}

TEST_CASE("a moved output is removed once", "[output]") {
  const TempDir dir;
  auto first = OutputFile::create(dir.path("a"));
  REQUIRE(first.ok());
  OutputFile second = *std::move(first);
  REQUIRE(second.write("a").ok());
  REQUIRE(second.commit().ok());
  CHECK(read_file(dir.path("a")) == "a");
}

TEST_CASE("a link stays a link and its target is replaced", "[output][trap]") {
  const TempDir dir;
  dir.write("real/data.json", "old");
  fs::create_symlink("real/data.json", dir.path("link"));
  fs::create_symlink("../link", dir.path("links/second"));
  REQUIRE(write_whole(dir.path("links/second"), "new").ok());
  CHECK(fs::is_symlink(dir.path("link")));
  CHECK(fs::is_symlink(dir.path("links/second")));
  CHECK(read_file(dir.path("real/data.json")) == "new");
  CHECK(fs::is_regular_file(fs::symlink_status(dir.path("real/data.json"))));

  fs::create_symlink(dir.path("real/absent"), dir.path("dangling"));
  REQUIRE(write_whole(dir.path("dangling"), "made").ok());
  CHECK(fs::is_symlink(dir.path("dangling")));
  CHECK(read_file(dir.path("real/absent")) == "made");

  fs::create_symlink("circle", dir.path("circle"));
  CHECK(OutputFile::create(dir.path("circle")).error().message ==
        "symbolic links lead in a circle");
}

TEST_CASE("a device stays a device and a full one is an error", "[output][trap]") {
  const TempDir dir;
  const std::string link = dir.path("link");
  fs::create_symlink("/dev/full", link);
  for (const std::string& path : {std::string("/dev/full"), link}) {
    auto file = OutputFile::create(path);
    REQUIRE(file.ok());
    REQUIRE(file->write("text").ok());
    const auto committed = file->commit();
    REQUIRE_FALSE(committed.ok());
    CHECK(committed.error().code == Errc::io);
    CHECK(committed.error().where == path);
    CHECK(committed.error().message == "cannot write: No space left on device");
    CHECK(file->write("more").error().message == committed.error().message);
    CHECK(file->commit().error().message == committed.error().message);
    CHECK(fs::is_character_file("/dev/full"));
  }
  CHECK_FALSE(write_whole("/dev/full", std::string(1'000'000, 'x')).ok());
  REQUIRE(write_whole("/dev/null", "text").ok());
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a pipe is written in place and waits for its reader", "[output][trap]") {
  const TempDir dir;
  const std::string path = dir.path("pipe");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  SECTION("a reader comes later") {
    std::string got;
    std::thread reader([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(80));
      got = read_file(path);
    });
    const auto written = write_whole(path, std::string(300'000, 'x'));
    reader.join();
    CHECK(written.ok());
    CHECK(got.size() == 300'000);
  }
  SECTION("no reader comes") {
    std::thread interrupter([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(80));
      interrupt_requested() = true;
    });
    const auto written = write_whole(path, "text");
    interrupter.join();
    interrupt_requested() = false;
    CHECK(written.error().code == Errc::interrupted);
  }
  CHECK(S_ISFIFO(mode_of(path)));
  CHECK(dir.names().size() == 1);
}

TEST_CASE("an inherited descriptor is continued, not replaced", "[output][trap]") {
  const TempDir dir;
  const std::string path = dir.write("log", "first\n");
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND);
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    REQUIRE(write_whole(folder + std::to_string(fd), "next\n").ok());
  }
  CHECK(::write(fd, "last\n", 5) == 5);
  ::close(fd);
  CHECK(read_file(path) == "first\nnext\nnext\nlast\n");
  CHECK(dir.names().size() == 1);
}

TEST_CASE("a closed pipe is an error, not a death", "[output][trap]") {
  ignore_fatal_signals();
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  const auto written = write_whole("/dev/fd/" + std::to_string(ends[1]), "text");
  ::close(ends[1]);
  CHECK(written.error().message == "cannot write: Broken pipe");
}

TEST_CASE("a write that fails at any byte leaves the old file and nothing else", "[output][trap]") {
  ignore_fatal_signals();
  const TempDir dir;
  const std::string path = dir.write("report.json", "old");
  const std::string text(150'000, 'x');
  rlimit saved{};
  ::getrlimit(RLIMIT_FSIZE, &saved);
  int failures = 0;
  for (rlim_t limit = 0; limit < text.size(); limit += 7'919) {
    const rlimit small{limit, saved.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto written = write_whole(path, text);
    ::setrlimit(RLIMIT_FSIZE, &saved);
    if (!written.ok() && written.error().message == "cannot write: File too large") ++failures;
    CHECK(read_file(path) == "old");
    CHECK(dir.names().size() == 1);
  }
  CHECK(failures == 19);
}

TEST_CASE("a killed process leaves the old file, and its temporary is swept", "[output][trap]") {
  const TempDir dir;
  const std::string path = dir.write("report.json", "old");
  const pid_t child = start_child([&] {
    static auto file = OutputFile::create(path);
    static_cast<void>(file->write(std::string(100'000, 'x')));
  });
  const std::string left = temporary(dir.path(), "report.json", child);
  REQUIRE(write_whole(path, "by the parent").ok());
  CHECK(fs::exists(left));
  kill_child(child);
  CHECK(read_file(path) == "by the parent");
  CHECK(fs::exists(left));
  REQUIRE(write_whole(dir.path("other.json"), "x").ok());
  CHECK(fs::exists(left));

  const int holder = ::open(left.c_str(), O_RDONLY);
  REQUIRE(::flock(holder, LOCK_EX | LOCK_NB) == 0);
  REQUIRE(write_whole(path, "while locked").ok());
  CHECK(fs::exists(left));
  ::close(holder);
  REQUIRE(write_whole(path, "after").ok());
  CHECK_FALSE(fs::exists(left));
  CHECK(read_file(path) == "after");
}

TEST_CASE("a temporary left by an earlier process of the same number is taken over", "[output]") {
  const TempDir dir;
  const std::string path = dir.path("report.json");
  write_file(temporary(dir.path(), "report.json", ::getpid()), "stale");
  REQUIRE(write_whole(path, "new").ok());
  CHECK(read_file(path) == "new");
  CHECK(dir.names().size() == 1);

  const auto first = OutputFile::create(path);
  const auto second = OutputFile::create(path);
  REQUIRE(first.ok());
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == Errc::io);
}

TEST_CASE("names that are no temporaries of ours are not touched", "[output]") {
  const TempDir dir;
  for (const char* name : {".a.detdiff.x.tmp", ".a.detdiff..tmp", ".a.detdiff.tmp",
                           ".a.detdiff.-1.tmp", ".a.detdiff.0.tmp", ".b.detdiff.999999999.tmp"}) {
    dir.write(name, "x");
  }
  REQUIRE(write_whole(dir.path("a"), "x").ok());
  CHECK(dir.names().size() == 7);
}

TEST_CASE("what cannot be written is refused at once", "[output]") {
  const TempDir dir;
  CHECK(OutputFile::create(dir.path()).error().code == Errc::usage);
  CHECK(OutputFile::create(dir.path() + "/").error().code == Errc::usage);
  CHECK(OutputFile::create("").error().code == Errc::usage);
  const auto missing = OutputFile::create(dir.path() + "/missing/report.json");
  CHECK(missing.error().code == Errc::io);
  CHECK(missing.error().where == dir.path() + "/missing/report.json");

  const std::string longest(255, 'n');
  REQUIRE(write_whole(dir.path(longest), "x").ok());
  CHECK_FALSE(write_whole(dir.path() + "/" + longest + "n", "x").ok());

  const std::string fixed = dir.write("read-only", "old");
  fs::permissions(fixed, static_cast<fs::perms>(0444));
  if (::geteuid() == 0) return;
  CHECK(write_whole(fixed, "new").error().message == "cannot write: Permission denied");
  CHECK(read_file(fixed) == "old");
}
