#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/detdiff_trace.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace detdiff::formats {
namespace {

using test::TempDir;

const std::string k_event = "{\"kind\":\"event\",\"name\":\"x\"}\n";

std::string header(std::string_view members) {
  return R"({"detdiff_trace":1)" + std::string(members.empty() ? "" : ",") + std::string(members) +
         "}\n";
}

std::string numbered(int sequence, int iteration) {
  return R"({"kind":"event","name":"x","sequence":)" + std::to_string(sequence) +
         R"(,"iteration":)" + std::to_string(iteration) + "}\n";
}

std::string trailer(int records) {
  return R"({"end":true,"records":)" + std::to_string(records) + "}\n";
}

std::unique_ptr<Run> open(const std::string& path) {
  auto run = open_run(path, {});
  CAPTURE(run ? "" : run.error().where + ": " + run.error().message);
  REQUIRE(run.ok());
  return std::move(*run);
}

Error refusal(const std::string& path) {
  auto run = open_run(path, {});
  REQUIRE_FALSE(run.ok());
  return run.error();
}

/// Reads one file to its end.
struct Outcome {
  std::vector<Record> records;
  std::string error, where, damage;
  bool finished = false;
};

Outcome read(const std::string& path) {
  const auto run = open(path);
  auto stream = run->open(0);
  REQUIRE(stream.ok());
  Outcome outcome;
  while (true) {
    auto next = (*stream)->next();
    if (!next) {
      outcome.error = next.error().message;
      outcome.where = next.error().where.substr(path.size());
      return outcome;
    }
    if (*next == nullptr) break;
    outcome.records.push_back(**next);
  }
  if ((*stream)->damage()) outcome.damage = (*stream)->damage()->text;
  outcome.finished = (*stream)->finished();
  return outcome;
}

TEST_CASE("A folder of traces is one run, its ranks in order", "[trace]") {
  const TempDir folder;
  const std::string both = R"("run_id":"r7","world_size":4,"environment":{"A":"1","HOST":")";
  folder.write("run/z.jsonl",
               header(R"("rank":0,"coordinates":{"tp":0,"pp":1},)" + both + R"(n0","LOCAL":"0"})") +
                   k_event);
  folder.write("run/deep/a.jsonl",
               header(R"("rank":2,"coordinates":{"tp":1,"pp":1},)" + both + R"(n1"})") + k_event);
  folder.write("run/b.jsonl", header(R"("rank":1)") + k_event);
  const auto run = open(folder.path() + "/run");
  const RunInfo& info = run->info();
  CHECK(info.format == "detdiff-trace");
  CHECK(info.run_id == "r7");
  CHECK(info.world_size == 4U);
  CHECK_FALSE(info.metrics_only);
  CHECK(info.environment == std::map<std::string, std::string>{{"A", "1"}, {"LOCAL", "0"}});
  REQUIRE(info.notices.size() == 1);
  CHECK(info.notices[0].code == "environment_differs");
  CHECK(info.notices[0].text.ends_with("left out: HOST"));
  REQUIRE(info.ranks.size() == 3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    CHECK(info.ranks[rank].rank == rank);
    auto stream = run->open(rank);
    REQUIRE(stream.ok());
    auto record = (*stream)->next();
    REQUIRE(record.ok());
    CHECK((*record)->site.rank == rank);
  }
  CHECK(info.ranks[2].coordinates == std::map<std::string, std::int64_t>{{"pp", 1}, {"tp", 1}});
  CHECK(info.ranks[2].file.ends_with("deep/a.jsonl"));
}

TEST_CASE("Files that are no run together are refused", "[trace]") {
  const TempDir folder;
  const auto pair = [&folder](std::string_view name, std::string_view one, std::string_view two) {
    folder.write(std::string(name) + "/a.jsonl", header(one) + k_event);
    folder.write(std::string(name) + "/b.jsonl", header(two) + k_event);
    const Error error = refusal(folder.path() + "/" + std::string(name));
    CHECK(error.code == Errc::damaged);
    return error.message;
  };
  CHECK(
      pair("rank", R"("rank":1)", R"("rank":1)").starts_with("expected one file for rank 1, but "));
  CHECK(pair("none", R"("rank":1)", "") ==
        "expected a \"rank\" in the header, as there are several files, got none");
  CHECK(pair("id", R"("rank":0,"run_id":"r1")", R"("rank":1,"run_id":"r2")")
            .starts_with("two runs in one folder: run_id r2, but "));
  CHECK(pair("size", R"("rank":0,"world_size":2)", R"("rank":1,"world_size":4)")
            .starts_with("expected world_size 2 as in "));
  CHECK(pair("content", R"("rank":0,"content":"metrics")", R"("rank":1,"content":"tensors")")
            .starts_with("expected the same content as in "));
}

TEST_CASE("One file needs no rank", "[trace]") {
  const TempDir folder;
  const std::string path = folder.write("m.jsonl", header(R"("content":"metrics")") + k_event);
  const auto run = open(path);
  CHECK(run->info().metrics_only);
  REQUIRE(run->info().ranks.size() == 1);
  CHECK_FALSE(run->info().ranks[0].rank);
}

TEST_CASE("Headers that cannot be read say why", "[trace]") {
  const TempDir folder;
  const std::vector<std::pair<std::string, std::pair<Errc, std::string_view>>> cases{
      {R"({"detdiff_trace":2,"other":[]})",
       {Errc::unsupported, "trace version 2 is too new: this detdiff reads version 1"}},
      {R"({"detdiff_trace":0})",
       {Errc::damaged, R"(expected version 1 in "detdiff_trace", got 0)"}},
      {R"({"detdiff_trace":"1"})",
       {Errc::damaged, R"(expected an integer from 0 in "detdiff_trace", got "1")"}},
      {R"({"detdiff_trace":1,"rank":-1})",
       {Errc::damaged, R"(expected an integer below 2^32 in "rank", got -1)"}},
      {R"({"detdiff_trace":1,"world_size":0})",
       {Errc::damaged, R"(expected an integer from 1 in "world_size", got 0)"}},
      {R"({"detdiff_trace":1,"rank":4,"world_size":4})",
       {Errc::damaged, R"(expected a rank below world_size 4 in "rank", got 4)"}},
      {R"({"detdiff_trace":1,"digests":["sha3"]})",
       {Errc::unsupported, R"(digest kind "sha3" is not known)"}},
      {R"({"detdiff_trace":1,"content":"video"})",
       {Errc::unsupported, "content \"video\" is not known, expected tensors or metrics"}},
      {R"({"detdiff_trace":1,"coordinates":{"tp":"0"}})",
       {Errc::damaged, R"(expected an integer from 0 in "tp", got "0")"}},
      {R"({"detdiff_trace":1,"groups":{"tp":0}})",
       {Errc::damaged, R"(expected lists of ranks in "groups", got 0)"}},
      {R"({"detdiff_trace":1,"environment":{"A":1}})",
       {Errc::damaged, R"(expected a string in "A", got 1)"}},
      {R"({"detdiff_trace":1,"environment":["A"]})",
       {Errc::damaged, R"(expected an object in "environment", got ["A"])"}},
      {R"({"detdiff_trace":1,"run_id":7})",
       {Errc::damaged, R"(expected a string in "run_id", got 7)"}},
      {R"({"detdiff_trace":1,"rank":0,"rank":1})",
       {Errc::damaged, R"(duplicate key "rank" in an object, second one at byte 36)"}},
      {R"({"detdiff_trace":1,"rank":)",
       {Errc::damaged, "expected a value at byte 27, found the end of the line"}},
  };
  for (const auto& [line, expected] : cases) {
    CAPTURE(line);
    const std::string path = folder.write("t.jsonl", "\n" + line + "\n" + k_event);
    const Error error = refusal(path);
    CHECK(error.code == expected.first);
    CHECK(error.message == expected.second);
    CHECK(error.where == path + ":2");
  }
}

TEST_CASE("A trace is known by its first line", "[trace]") {
  const auto sniffed = [](std::string head) {
    return sniff_detdiff_trace({nullptr, "any", std::move(head)});
  };
  CHECK(sniffed(header("")) == Sniff::yes);
  CHECK(sniffed("\r\n \n  { \"detdiff_trace\" : 9") == Sniff::yes);
  CHECK(sniffed(R"({"rank":0,"detdiff_trace":1})"
                "\n") == Sniff::yes);
  CHECK(sniffed(R"({"a":{"detdiff_trace":1}})"
                "\n") == Sniff::no);
  CHECK(sniffed(R"({"a":"\"detdiff_trace\""})"
                "\n") == Sniff::no);
  CHECK(sniffed("") == Sniff::no);
  CHECK(sniffed("\n\n") == Sniff::no);
  CHECK(sniffed(k_event) == Sniff::no);
  CHECK(sniffed("[\"detdiff_trace\"]\n") == Sniff::no);
  const TempDir folder;  // a header longer than what a sniffer sees
  const std::string path =
      folder.write("t.jsonl", header(R"("environment":{"A":")" + std::string(60000, 'a') +
                                     R"(","B":")" + std::string(60000, 'b') + R"("})") +
                                  k_event);
  CHECK(open(path)->info().environment.at("B").size() == 60000);
}

TEST_CASE("A trailer says that a stream is whole", "[trace]") {
  const TempDir folder;
  const std::string start = header("\"rank\":0") + k_event + k_event;
  const auto file = [&](std::string_view rest) {
    return read(folder.write("t.jsonl", start + std::string(rest)));
  };
  CHECK(file("").records.size() == 2);
  CHECK_FALSE(file("").finished);
  CHECK(file(trailer(2)).finished);
  CHECK(file(trailer(2)).records.size() == 2);
  CHECK(file(trailer(3)).error == "expected 3 records before this trailer, got 2");
  CHECK(file(trailer(3)).where == ":4");
  CHECK(file(trailer(2) + k_event).error ==
        "expected a header with \"detdiff_trace\" behind a trailer");
  const Outcome torn = file("{\"kind\":\"eve");
  CHECK(torn.records.size() == 2);
  CHECK(torn.damage == "the last line is cut off after 12 bytes");
  CHECK_FALSE(torn.finished);
  CHECK(file("{\"kind\":\"eve\n").where == ":4");
}

TEST_CASE("A restarted run appends a segment", "[trace]") {
  const TempDir folder;
  const std::string first = header("\"rank\":0") + numbered(0, 1) + numbered(1, 2);
  const auto file = [&](std::string_view rest) {
    return read(folder.write("t.jsonl", first + std::string(rest)));
  };
  const Outcome outcome = file(header("\"rank\":0") + numbered(0, 2) + numbered(1, 3) + trailer(2));
  CHECK(outcome.error.empty());
  CHECK(outcome.finished);
  REQUIRE(outcome.records.size() == 4);
  CHECK_FALSE(outcome.records[0].starts_segment);
  CHECK(outcome.records[2].starts_segment);
  CHECK_FALSE(outcome.records[3].starts_segment);
  CHECK(outcome.records[2].site.iteration == 2);
  CHECK(file(trailer(2) + header("\"rank\":0") + numbered(7, 3) + trailer(1)).finished);
  CHECK(file(trailer(2) + header("\"rank\":0") + numbered(7, 3) + trailer(3)).error ==
        "expected 3 records before this trailer, got 1");
  CHECK(file(header("\"rank\":1")).error ==
        "expected rank 0 in the header of another segment, got rank 1");
  CHECK(file(header("\"rank\":0,\"later\":1")).error.empty());
  CHECK(file("{\"detdiff_trace\":3}\n").error ==
        "trace version 3 is too new: this detdiff reads version 1");
  CHECK(file(numbered(1, 3)).error == "expected a sequence above 1, got 1");
}

TEST_CASE("Equal sites without an occurrence are counted", "[trace]") {
  const TempDir folder;
  const std::string one = R"({"kind":"event","name":"x","iteration":1})"
                          "\n";
  const std::string two = R"({"kind":"event","name":"x","iteration":2})"
                          "\n";
  const Outcome outcome = read(folder.write("t.jsonl", header("") + one + one + two + one));
  REQUIRE(outcome.records.size() == 4);
  CHECK(outcome.records[0].site.occurrence == 0);
  CHECK(outcome.records[1].site.occurrence == 1);
  CHECK(outcome.records[2].site.occurrence == 0);
}

TEST_CASE("The example in Python writes a whole trace", "[trace]") {
  if (std::system("python3 -c pass") != 0) {
    WARN("no python3, nothing tested");
    return;
  }
  const TempDir folder;
  const std::string path = folder.path("t.jsonl");
  const std::string command =
      "python3 -B '" DETDIFF_EXAMPLES_DIR "/write_trace.py' '" + path + "' 7";
  REQUIRE(std::system(command.c_str()) == 0);
  const Outcome outcome = read(path);
  CHECK(outcome.error.empty());
  CHECK(outcome.finished);
  REQUIRE(outcome.records.size() == 20);
  CHECK(outcome.records[1].inputs.at(0).best_evidence() == Evidence::strong);
}

}  // namespace
}  // namespace detdiff::formats
