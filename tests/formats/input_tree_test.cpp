#include "formats/input_tree.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/byte_source.hpp"
#include "model/interrupt.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace detdiff;
using namespace detdiff::test;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

Names relative_names(const InputTree& tree) {
  Names names;
  for (const FoundFile& file : tree.files) names.push_back(file.relative);
  return names;
}

std::string reason(const InputTree& tree, const std::string& name) {
  for (const auto& [skipped, why] : tree.skipped) {
    if (skipped == name) return why;
  }
  return {};
}

InputTree listed(const std::string& path) {
  Result<InputTree> tree = list_input(path);
  REQUIRE(tree.ok());
  return *std::move(tree);
}

}  // namespace

TEST_CASE("a file is itself", "[tree]") {
  const TempDir dir;
  const std::string path = dir.write("folder/rank0.jsonl", "x");
  const InputTree tree = listed(path);
  CHECK_FALSE(tree.folder);
  REQUIRE(tree.files.size() == 1);
  CHECK(tree.files[0].path == path);
  CHECK(tree.files[0].relative == "rank0.jsonl");
  CHECK(tree.inode == (*open_source(path, {}))->identity().inode);
  CHECK(tree.device == (*open_source(path, {}))->identity().device);

  fs::create_symlink("rank0.jsonl", dir.path("folder/link"));
  CHECK(listed(dir.path("folder/link")).inode == tree.inode);
  REQUIRE(::mkfifo(dir.path("pipe").c_str(), 0600) == 0);
  CHECK(listed(dir.path("pipe")).files[0].path == dir.path("pipe"));
  CHECK(listed("-").files[0].path == "-");
}

TEST_CASE("what is neither file nor folder is refused", "[tree]") {
  const TempDir dir;
  CHECK(list_input("/dev/null").error().code == Errc::usage);
  const auto missing = list_input(dir.path("missing"));
  CHECK(missing.error().code == Errc::io);
  CHECK(missing.error().message == "cannot open: No such file or directory");
  fs::create_symlink("missing", dir.path("dangling"));
  CHECK(list_input(dir.path("dangling")).error().message ==
        "symbolic link to a file that does not exist");
  CHECK_FALSE(list_input("").ok());
}

TEST_CASE("a folder gives its files in byte order of their relative paths", "[tree]") {
  const TempDir dir;
  for (const char* name : {"b/rank10", "b/rank9", "a", "B", "b.x", "b/c/d", "\xC3\xA4"}) {
    dir.write(name, "x");
  }
  const Names expected{"B", "a", "b.x", "b/c/d", "b/rank10", "b/rank9", "\xC3\xA4"};
  const InputTree tree = listed(dir.path());
  CHECK(tree.folder);
  CHECK(relative_names(tree) == expected);
  CHECK(tree.files[0].path == dir.path() + "/B");
  CHECK(tree.skipped.empty());
  const InputTree with_slash = listed(dir.path() + "/");
  CHECK(with_slash.files[3].path == dir.path() + "/b/c/d");
  CHECK(with_slash.inode == tree.inode);
  CHECK(listed(dir.path("b/c")).files.size() == 1);
}

TEST_CASE("hidden names and our temporary files are left out", "[tree]") {
  const TempDir dir;
  dir.write("a", "x");
  dir.write(".hidden", "x");
  dir.write(".git/config", "x");
  dir.write(".report.json.detdiff.123.tmp", "x");
  const InputTree tree = listed(dir.path());
  CHECK(relative_names(tree) == Names{"a"});
  CHECK(tree.skipped.empty());
  CHECK(listed(dir.path(".git")).files.size() == 1);
}

TEST_CASE("a link to its own folder finds nothing again", "[tree][trap]") {
  const TempDir dir;
  dir.write("run/rank0", "x");
  fs::create_directory_symlink(".", dir.path("run/self"));
  fs::create_directory_symlink("..", dir.path("run/up"));
  const InputTree tree = listed(dir.path());
  CHECK(relative_names(tree) == Names{"run/rank0"});
  CHECK(reason(tree, "run/self") == "symbolic link to a folder");
  CHECK(reason(tree, "run/up") == "symbolic link to a folder");

  fs::create_directory_symlink("run", dir.path("named"));
  CHECK(relative_names(listed(dir.path("named"))) == Names{"rank0"});
}

TEST_CASE("no file is found under two names", "[tree][trap]") {
  const TempDir dir;
  dir.write("run/rank0", "x");
  dir.write("outside", "x");
  fs::create_symlink("rank0", dir.path("run/latest"));
  fs::create_hard_link(dir.path("run/rank0"), dir.path("run/zero"));
  fs::create_symlink("../outside", dir.path("run/from_outside"));
  const InputTree tree = listed(dir.path("run"));
  CHECK(relative_names(tree) == Names{"from_outside", "rank0"});
  CHECK(tree.skipped.size() == 2);
  CHECK(reason(tree, "latest") == "the same file as rank0");
  CHECK(reason(tree, "zero") == "the same file as rank0");
}

TEST_CASE("links that lead in a circle are an error that names one", "[tree][trap]") {
  const TempDir dir;
  dir.write("run/rank0", "x");
  fs::create_symlink("there", dir.path("run/here"));
  fs::create_symlink("here", dir.path("run/there"));
  for (const std::string& named : {dir.path(), dir.path("run/here")}) {
    const auto tree = list_input(named);
    REQUIRE_FALSE(tree.ok());
    CHECK(tree.error().code == Errc::io);
    CHECK(tree.error().where == dir.path("run/here"));
    CHECK(tree.error().message == "symbolic links lead in a circle");
  }
}

TEST_CASE("what is no file below a folder is skipped with a reason", "[tree][trap]") {
  const TempDir dir;
  dir.write("a", "x");
  REQUIRE(::mkfifo(dir.path("pipe").c_str(), 0600) == 0);
  fs::create_symlink("missing", dir.path("dangling"));
  fs::create_symlink("/dev/null", dir.path("device"));
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, dir.path("socket").c_str(), sizeof(address.sun_path) - 1);
  REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  ::close(listener);
  const InputTree tree = listed(dir.path());
  CHECK(relative_names(tree) == Names{"a"});
  const std::vector<std::pair<std::string, std::string>> expected{
      {"dangling", "symbolic link to a file that does not exist"},
      {"device", "symbolic link to a device"},
      {"pipe", "a pipe"},
      {"socket", "a socket"}};
  CHECK(tree.skipped == expected);
}

TEST_CASE("names may hold any byte", "[tree]") {
  const TempDir dir;
  const Names odd{"\x01\x1B[31m", "-rf", "a\nb", "\xFF\xFE"};
  for (const std::string& name : odd) dir.write(name, "x");
  CHECK(relative_names(listed(dir.path())) == odd);
}

TEST_CASE("folders nest to a limit", "[tree]") {
  const TempDir dir;
  std::string nested;
  for (int i = 0; i < max_folder_depth; ++i) nested += "d/";
  dir.write(nested + "file", "x");
  CHECK(listed(dir.path()).files.size() == 1);
  dir.write(nested + "d/file", "x");
  const auto deeper = list_input(dir.path());
  REQUIRE_FALSE(deeper.ok());
  CHECK(deeper.error().code == Errc::limit);
  CHECK(listed(dir.path("d")).files.size() == 2);
}

TEST_CASE("a folder that cannot be listed is an error", "[tree]") {
  const TempDir dir;
  dir.write("a", "x");
  dir.write("closed/b", "x");
  fs::permissions(dir.path(), fs::perms::all);
  fs::permissions(dir.path("closed"), fs::perms::none);
  const bool root = ::geteuid() == 0;
  if (root && ::seteuid(65534) != 0) return;
  const auto tree = list_input(dir.path());
  if (root) REQUIRE(::seteuid(0) == 0);
  fs::permissions(dir.path("closed"), fs::perms::owner_all);
  REQUIRE_FALSE(tree.ok());
  CHECK(tree.error().code == Errc::io);
  CHECK(tree.error().where == dir.path("closed"));
  CHECK(tree.error().message == "cannot list: Permission denied");
}

TEST_CASE("an empty folder has no files and a listing can be interrupted", "[tree]") {
  const TempDir dir;
  CHECK(listed(dir.path()).files.empty());
  interrupt_requested() = true;
  CHECK(list_input(dir.path()).error().code == Errc::interrupted);
  interrupt_requested() = false;
}
