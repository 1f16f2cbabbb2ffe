#include "formats/golden_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "formats/json_cursor.hpp"
#include "support/catch.hpp"

namespace {

using namespace detdiff;
using namespace detdiff::formats;

InputFile input(std::string text, std::string name = "fresh.json") {
  InputFile file;
  file.head = text.substr(0, std::size_t{64} << 10);
  file.source = memory_source(name, std::move(text), ByteLimits{});
  file.relative = std::move(name);
  return file;
}

Result<std::unique_ptr<Run>> open(std::string text) {
  std::vector<InputFile> files;
  files.push_back(input(std::move(text)));
  return open_golden_metrics("fresh.json", false, std::move(files), {});
}

std::unique_ptr<Run> opened(Result<std::unique_ptr<Run>> run) {
  if (!run) FAIL(run.error().where + ": " + run.error().message);
  return *std::move(run);
}

std::vector<Record> records_of(const Run& run) {
  REQUIRE(run.info().ranks.size() == 1);
  auto stream = run.open(0);
  REQUIRE(stream);
  std::vector<Record> records;
  while (true) {
    auto record = (*stream)->next();
    REQUIRE(record);
    if (*record == nullptr) break;
    records.push_back(**record);
  }
  CHECK((*stream)->finished());
  CHECK_FALSE((*stream)->damage());
  CHECK((*stream)->bytes_read() == run.info().ranks[0].bytes);
  return records;
}

// "51 forward lm loss=9.5" for every record.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const Record& record : records_of(*opened(open(text)))) {
    lines.push_back(fmt::format("{} {} {}={}", *record.site.iteration, record.site.phase,
                                record.site.name, *record.outputs.at(0).value));
  }
  return lines;
}

std::string notice_of(const Run& run, const std::string& code) {
  std::string text;
  for (const Notice& notice : run.info().notices) {
    if (notice.code == code) text += notice.text;
  }
  return text;
}

std::string metric(const std::string& values, const std::string& more = "") {
  return R"({"lm loss": {"start_step": 0, "end_step": 9223372036854775807, "step_interval": 1)" +
         more + R"(, "values": {)" + values + "}}}";
}

void check_error(const std::string& text, Errc code, const std::string& where,
                 const std::string& message) {
  INFO(text.substr(0, 200));
  const auto run = open(text);
  REQUIRE_FALSE(run);
  CHECK(run.error().code == code);
  CHECK(run.error().where == where);
  CHECK(run.error().message == message);
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("golden metrics are read in execution order", "[golden_metrics]") {
  const std::string text = R"({
    "num-zeros": {"start_step": 9, "end_step": 10, "step_interval": 1,
                  "values": {"10": 1033.0, "9": 1148.0}},
    "learning-rate": {"start_step": 9, "end_step": 10, "step_interval": 1, "values": {"10": 1e-3}},
    "batch-size": {"start_step": 9, "end_step": 10, "step_interval": 1, "values": {"10": 32}},
    "mtp_1 loss": {"start_step": 9, "end_step": 10, "step_interval": 1, "values": {"9": 9.5}},
    "lm loss": {"start_step": 9, "end_step": 10, "step_interval": 1,
                "values": {"9": 9.77323, "10": 9.65789}},
    "iteration-time": {"start_step": 9, "end_step": 10, "step_interval": 1, "values": {"9": 0.4}}
  })";
  CHECK(lines_of(text) == Lines{"9 forward mtp_1 loss=9.5", "9 forward lm loss=9.77323",
                                "9 backward num-zeros=1148", "10 forward lm loss=9.65789",
                                "10 backward num-zeros=1033", "10 optimizer learning-rate=0.001",
                                "10  batch-size=32"});

  const auto run = opened(open(text));
  CHECK(run->info().metrics_only);
  CHECK(run->info().format == "golden-metrics");
  CHECK(run->info().path == "fresh.json");
  CHECK_FALSE(run->info().ranks.at(0).rank);
  CHECK(run->info().ranks.at(0).file == "fresh.json");
  CHECK(run->info().ranks.at(0).bytes == text.size());
  REQUIRE(run->info().notices.size() == 1);
  CHECK(notice_of(*run, "environment_metrics_left_out") ==
        "fresh.json: not compared, because they measure the machine and not the numbers: "
        "iteration-time");

  const auto records = records_of(*run);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    CHECK(record.kind == RecordKind::scalar);
    CHECK_FALSE(record.site.rank);
    CHECK(record.site.tensor == record.site.name);
    CHECK(record.site.occurrence == 0);
    CHECK(record.position.byte == i);
    CHECK(record.outputs.at(0).printed_digits == 5);
    CHECK(record.outputs.at(0).best_evidence() == Evidence::rounded);
    CHECK(record.keys.content != 0);
  }
  CHECK(records[0].position.line == 6);
  CHECK(records[2].position.line == 3);
}

TEST_CASE("the text nan is a step without value", "[golden_metrics]") {
  CHECK(lines_of(metric(R"("1": "nan", "2": 0.5, "3": "nan", "4": 0.25, "5": "nan")")) ==
        Lines{"2 forward lm loss=0.5", "4 forward lm loss=0.25"});
  CHECK(lines_of(metric(R"("1": "nan")")).empty());

  const auto notice = [](const std::string& values) {
    return notice_of(*opened(open(metric(values))), "steps_without_value");
  };
  CHECK(notice(R"("17": "nan", "18": 1, "22": "nan", "9": 1, "23": "nan", "30": 2)") ==
        "fresh.json: \"lm loss\" has no value at steps 17, 22, 23 between others: nothing was "
        "logged there, as where an update is skipped");
  CHECK(notice(R"("1": "nan", "2": 0.5, "3": "nan")").empty());
}

TEST_CASE("a loss that became NaN is a value", "[golden_metrics]") {
  CHECK(lines_of(metric(R"("1": 0.5, "2": NaN, "3":Infinity, "4": -Infinity)")) ==
        Lines{"1 forward lm loss=0.5", "2 forward lm loss=nan", "3 forward lm loss=inf",
              "4 forward lm loss=-inf"});
  CHECK(lines_of(metric(R"("1": "NaN", "2": "inf", "3": "-inf", "4": "Infinity")")) ==
        Lines{"1 forward lm loss=nan", "2 forward lm loss=inf", "3 forward lm loss=-inf",
              "4 forward lm loss=inf"});
  // Words inside of text are text, also behind an escaped quote.
  const std::string text =
      R"({"a: NaN \": NaN loss": {"start_step": 1, "values": {"1": 2, "2": NaN}}})";
  CHECK(lines_of(text) ==
        Lines{"1 forward a: NaN \": NaN loss=2", "2 forward a: NaN \": NaN loss=nan"});
}

TEST_CASE("full precision makes values exact", "[golden_metrics]") {
  const std::string full = R"(, "value_precision": "full")";
  const auto records =
      records_of(*opened(open(metric(R"("1": 10.952741622924805, "2": "nan")", full))));
  REQUIRE(records.size() == 2);
  CHECK(records[0].outputs.at(0).printed_digits == 0);
  CHECK(records[0].outputs.at(0).best_evidence() == Evidence::strong);
  CHECK(*records[0].outputs.at(0).value == "10.952741622924805");
  CHECK(*records[1].outputs.at(0).value == "nan");
  // It may stand behind the values.
  const std::string behind = R"({"loss": {"values": {"1": 1.5}, "value_precision": "full"}})";
  CHECK(records_of(*opened(open(behind))).at(0).outputs.at(0).printed_digits == 0);
}

TEST_CASE("steps and numbers at the ends of their ranges", "[golden_metrics]") {
  CHECK(lines_of(metric(R"("0": 0, "9223372036854775807": -0.0, "7": 18446744073709551615)")) ==
        Lines{"0 forward lm loss=0", "7 forward lm loss=18446744073709551615",
              "9223372036854775807 forward lm loss=-0.0"});
  CHECK(lines_of("{}").empty());
  CHECK(lines_of(R"({"lm loss": {"values": {}}})").empty());
  CHECK(lines_of(R"({"lm loss": {"values": {"1": 2}, "later": {"more": [1, {}]}}})").size() == 1);
}

TEST_CASE("copies by samples are left out", "[golden_metrics]") {
  const auto run = opened(open(R"({"lm loss": {"values": {"1": 2.5}},
                                   "lm loss vs samples": {"values": {"32": 2.5}}})"));
  CHECK(records_of(*run).size() == 1);
  CHECK(notice_of(*run, "other_axis_left_out").find("lm loss vs samples") != std::string::npos);
}

TEST_CASE("malformed golden metrics say where", "[golden_metrics]") {
  const std::string file = "fresh.json";
  const Errc damaged = Errc::damaged;
  check_error("", damaged, file, "expected a JSON object at byte 1, found the end of the file");
  check_error("[1]", damaged, file, "expected a JSON object at byte 1, found '['");
  check_error(R"({"lm loss": {"values": {"1": 1})", damaged, file,
              "expected ',' or '}' at byte 32, found the end of the file");
  check_error("{} {}", damaged, file, "expected the end of the file at byte 4, found '{'");
  check_error("{\n\"lm loss\": true}", damaged, file + ":2",
              "metric \"lm loss\": expected an object, found true");
  check_error(R"({"lm loss": NaN})", damaged, file + ":1",
              "metric \"lm loss\": expected an object, found NaN");
  check_error(R"({"lm loss": {}})", damaged, file + ":1",
              "metric \"lm loss\": expected \"values\" in it, found an object");
  check_error(R"({"lm loss": {"values": 3}})", damaged, file + ":1",
              "metric \"lm loss\": expected an object as \"values\", found 3");
  check_error(R"({"lm loss": {"start_step": 1.5, "values": {}}})", damaged, file + ":1",
              "metric \"lm loss\": expected a step as \"start_step\", found 1.5");

  const auto step = [&](const std::string& key) {
    check_error(metric("\n\"" + key + "\": 1"), damaged, file + ":2",
                "metric \"lm loss\", step \"" + key +
                    "\": expected a step as the value's key, 0 to 2^63-1, found 1");
  };
  for (const char* key : {"051", "00", "-1", "+1", "1.0", "1e3", "x1", " 1", "9223372036854775808",
                          "99999999999999999999999"}) {
    step(key);
  }
  check_error(metric("\"\": 1"), damaged, file + ":1",
              "metric \"lm loss\": expected a step as the value's key, 0 to 2^63-1, found 1");
  check_error(
      R"({"lm loss": {"start_step": 2, "end_step": 3, "values": {"1": 1}}})", damaged, file + ":1",
      "metric \"lm loss\", step \"1\": expected a step from start_step to end_step, found 1");

  const auto value = [&](const std::string& json, const std::string& found) {
    check_error(metric("\n\n\"51\": " + json), damaged, file + ":3",
                "metric \"lm loss\", step \"51\": expected a number or \"nan\", found " + found);
  };
  value("true", "true");
  value("null", "null");
  value("[1]", "a list");
  value("{}", "an object");
  value("\"9.5\"", "\"9.5\"");
  value("\"\"", "\"\"");
  value("\"NAN\"", "\"NAN\"");
  value("\"" + std::string(100, 'x') + "\"", "\"" + std::string(39, 'x') + "...");

  // The value of an environment metric is checked as well.
  CHECK_FALSE(open(R"({"iteration-time": {"values": {"1": true}}})"));
}

TEST_CASE("malformed JSON says at which byte", "[golden_metrics]") {
  const auto message = [](const std::string& text, Errc code = Errc::damaged) {
    INFO(text.substr(0, 200));
    const auto run = open(text);
    REQUIRE_FALSE(run);
    CHECK(run.error().code == code);
    CHECK(run.error().where == "fresh.json");
    return run.error().message;
  };
  CHECK(message(R"({"a": {"values": {"1": 1, "1": 2}}})") ==
        "duplicate key \"1\" in an object, second one at byte 32");
  CHECK(message(R"({"a": {"values": {}}, "a": {"values": {}}})") ==
        "duplicate key \"a\" in an object, second one at byte 28");
  CHECK(message(R"({"a": {"values": {"1": 18446744073709551616}}})") ==
        "number past 64 bits at byte 24: 18446744073709551616");
  CHECK(message(R"({"a": {"values": {"1": 1e400}}})") == "number not finite at byte 24: 1e400");
  CHECK(message(R"({"a": {"values": {"1": 01}}})").find("byte 24") != std::string::npos);
  CHECK(message(R"({"a": {"values": {"1": NaNs}}})").find("byte 27") != std::string::npos);
  CHECK(message(R"({"a": {"values": {"1": nan}}})").find("byte 25") != std::string::npos);
  CHECK(message(R"({"a": {"values": [NaN]}})").find("byte 19") != std::string::npos);
  CHECK(message(R"({NaN: 1})").find("byte 2") != std::string::npos);
  CHECK(message("{\"a\xff\": {}}") == "invalid UTF-8 at byte 4");
  CHECK(message("{\"a\n\": {}}").find("byte 4") != std::string::npos);
  CHECK(message(std::string("{\"a\": {}}\0", 10)).find("byte 10") != std::string::npos);
  CHECK(message(R"({"a": {"values": {"1": "\ud800"}}})").find("surrogates") != std::string::npos);
  const std::string deep(100'000, '[');
  CHECK(message("{\"a\": " + deep, Errc::limit) ==
        "JSON nested deeper than 1024 levels at byte 1030");
}

TEST_CASE("what golden metrics cannot hold is unsupported", "[golden_metrics]") {
  check_error(metric("", R"(, "value_precision": "bfloat16")"), Errc::unsupported, "fresh.json:1",
              "metric \"lm loss\": expected \"full\" as \"value_precision\", found \"bfloat16\"");
  check_error(R"({"lm loss": {"start_step": 0, "end_step": 50, "step_interval": 5,
                               "values": [10.8, 10.9]}})",
              Errc::unsupported, "fresh.json:2",
              "metric \"lm loss\": expected values by step, found a list, the older form, which "
              "does not say the steps");
}

TEST_CASE("golden metrics have limits", "[golden_metrics]") {
  std::string many = R"({"loss": {"values": {"0": 1)";
  for (std::size_t i = 1; i <= JsonLine::max_nodes; ++i) many += fmt::format(",\"{}\":1", i);
  auto run = open(many + "}}}");
  REQUIRE_FALSE(run);
  CHECK(run.error().code == Errc::limit);
  CHECK(run.error().message == "more than 1048576 JSON values in one file");

  const auto named = [](std::size_t size) {
    return open("{\"" + std::string(size, 'x') + R"(": {"values": {"1": 1}}})");
  };
  CHECK(named(256));
  run = named(257);
  REQUIRE_FALSE(run);
  CHECK(run.error().code == Errc::limit);
  CHECK(run.error().message == "metric \"" + std::string(40, 'x') +
                                   "...\": expected a name of at most 256 bytes, found an object");

  std::string large = R"({"loss": {"values": {"0": 1}}})";
  large.append(max_golden_bytes - large.size(), ' ');
  CHECK(open(large));
  run = open(large + " ");
  REQUIRE_FALSE(run);
  CHECK(run.error().code == Errc::limit);
  CHECK(run.error().where == "fresh.json");
}

TEST_CASE("each file of golden metrics is a run", "[golden_metrics]") {
  std::vector<InputFile> files;
  files.push_back(input("{}", "a.json"));
  files.push_back(input("{}", "b.json"));
  const auto run = open_golden_metrics("folder", true, std::move(files), {});
  REQUIRE_FALSE(run);
  CHECK(run.error().code == Errc::usage);
  CHECK(run.error().where == "folder");
  CHECK(run.error().hint == "name one of them: a.json, b.json");
}

TEST_CASE("golden metrics are told from other JSON", "[golden_metrics]") {
  const auto sniff = [](const std::string& text) { return sniff_golden_metrics(input(text)); };
  CHECK(sniff(metric("\"1\": 2")) == Sniff::yes);
  CHECK(sniff(R"({"loss":{"values":{}}})") == Sniff::yes);
  CHECK(sniff(R"({"loss":{"note":[1,{"x":"}"}],"n":-1.5e3 , "values" : {}}})") == Sniff::yes);
  CHECK(sniff(R"( {"a\"b": {"start_step": 1)") == Sniff::yes);
  CHECK(sniff(R"({"lm loss": {"start_step": 0, "values": [1]}})") == Sniff::yes);

  for (const char* text : {"",
                           " ",
                           "{",
                           "{}",
                           "[]",
                           "null",
                           "{\"a\"",
                           "{\"a\": ",
                           "{\"a\": {",
                           "{\"a\": {}}",
                           R"({"a": "fresh.json", "b": "resumed.json", "verdict": "same"})",
                           R"({"schema_version": 1, "verdict": "same"})",
                           R"({"first": {"iteration": 51}, "values": {}})",
                           R"({"lm loss": {"start_step": "1"}})",
                           R"({"lm loss": {"values": 1}})",
                           R"({"lm loss": {"values"}})",
                           R"({"a": {"b": ]}})",
                           R"({"a": {"b" "values": {}}})",
                           R"({"event":"event","fields":{"num_microbatches":2},"iteration":1})",
                           "{\"metrics\": {\"values\": {}}}\n{\"metrics\": {\"values\": {}}}\n",
                           "lm loss: 3\n"}) {
    INFO(text);
    CHECK(sniff(text) == Sniff::no);
  }
  // Only the head is looked at, and it may end anywhere.
  const std::string whole = metric("\"1\": 2");
  for (std::size_t i = 0; i <= whole.size(); ++i) {
    const bool known = i > std::string(R"({"lm loss": {"start_step": )").size();
    CHECK(sniff(whole.substr(0, i)) == (known ? Sniff::yes : Sniff::no));
  }
}

TEST_CASE("real golden pairs", "[golden_metrics]") {
  struct Case {
    std::string name;
    std::string first;  ///< first difference inside the common steps
  };
  for (const Case& c :
       {Case{"gpt-h100-equal", ""}, Case{"gpt-cp2-gb200-backward", "51 num-zeros"},
        Case{"bert-h100-restore", "51 lm loss"}, Case{"moe-fsdp-h100-optimizer", "52 lm loss"}}) {
    INFO(c.name);
    const auto read = [&c](const char* file) {
      const std::string path = fmt::format("{}/golden/{}/{}", DETDIFF_TEST_DATA_DIR, c.name, file);
      std::vector<InputFile> files(1);
      files[0].source = *open_source(path, ByteLimits{});
      files[0].head = *files[0].source->head(std::size_t{64} << 10);
      CHECK(sniff_golden_metrics(files[0]) == Sniff::yes);
      return records_of(*opened(open_golden_metrics(path, false, std::move(files), {})));
    };
    const auto fresh = read("fresh.json");
    const auto resumed = read("resumed.json");
    REQUIRE(fresh.size() == 200);
    REQUIRE(resumed.size() == 100);
    std::string first;
    for (std::size_t i = 0; i < resumed.size() && first.empty(); ++i) {
      const Record& a = fresh[i + 100];
      const Record& b = resumed[i];
      REQUIRE(a.keys.token == b.keys.token);
      REQUIRE(a.site.iteration == b.site.iteration);
      EvidenceCounts counts;
      if (compare_records(a, b, counts).outcome != RecordMatch::Outcome::equal) {
        first = fmt::format("{} {}", *a.site.iteration, a.site.name);
      }
    }
    CHECK(first == c.first);
  }
}
