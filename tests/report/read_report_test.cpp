#include <nlohmann/json.hpp>
#include <string>

#include "report/report.hpp"
#include "report/samples.hpp"
#include "support/catch.hpp"

using namespace detdiff;
using namespace detdiff::report;

namespace {

std::string saved() { return Report::make(samples::divergent(), samples::context()).json(); }

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

// Every value of a report replaced by another type, one at a time.
void replace_each(nlohmann::json& document, nlohmann::json& part, const nlohmann::json& by,
                  std::size_t& count) {
  for (auto& child : part) {
    const nlohmann::json kept = child;
    if (kept.is_structured()) replace_each(document, child, by, count);
    child = by;
    const auto report = Report::read(document.dump(), "r.json");
    if (report) {
      TextOptions options;
      options.verbosity = 1;
      CHECK_FALSE(report->text(options).empty());
    }
    child = kept;
    ++count;
  }
}

}  // namespace

TEST_CASE("a saved report prints the same text and the same JSON", "[report]") {
  for (const auto& comparison :
       {samples::same(), samples::divergent(), samples::many_ranks(40), samples::restore_rng(),
        samples::control_flow(), samples::missing_rank(), samples::metrics(), samples::hostile()}) {
    const auto direct = Report::make(comparison, samples::context());
    const auto again = Report::read(direct.json(), "report.json");
    REQUIRE(again);
    CHECK(again->json() == direct.json());
    CHECK(again->exit_status() == direct.exit_status());
    for (const int verbosity : {0, 1}) {
      TextOptions options;
      options.verbosity = verbosity;
      options.width = 80;
      CHECK(again->text(options) == direct.text(options));
    }
  }
}

TEST_CASE("a report is told from a log by its first bytes", "[report]") {
  CHECK(Report::recognise(saved().substr(0, 4096)));
  CHECK(Report::recognise(nlohmann::json::parse(saved()).dump().substr(0, 4096)));
  CHECK_FALSE(Report::recognise(R"({"event":"event","schema_version":1,"sequence":0})"));
  CHECK_FALSE(Report::recognise(R"({"schema_version":1,"seq":0,"kind":"op","tool":"x"})"));
  CHECK_FALSE(Report::recognise(R"({"detdiff_trace":1,"tool":{"name":"detdiff"}})"));
  CHECK_FALSE(Report::recognise("[1]"));
  CHECK_FALSE(Report::recognise(""));
}

TEST_CASE("a newer report is refused with both versions", "[report]") {
  std::string text = saved();
  text.replace(text.find("\"schema_version\": 1"), 19, "\"schema_version\": 7");
  const auto report = Report::read(text, "new.json");
  REQUIRE_FALSE(report);
  CHECK(report.error().code == Errc::unsupported);
  CHECK(report.error().where == "new.json");
  CHECK(report.error().message == "report version 7 is newer than this detdiff (reads 1)");
}

TEST_CASE("what is no report is refused", "[report]") {
  for (const char* text :
       {"", "{", "[]", "3", "{}", R"({"schema_version":1})", R"({"schema_version":"1"})",
        R"({"schema_version":0,"verdict":"same"})", R"({"schema_version":1,"verdict":"equal"})",
        R"({"schema_version":1e999,"verdict":"same"})", "{\"schema_version\":1,\"x\":\"\xff\"}"}) {
    const auto report = Report::read(text, "x");
    REQUIRE_FALSE(report);
    CHECK(report.error().code == Errc::damaged);
  }
}

TEST_CASE("hostile nesting and objects hit a limit instead of the stack or the clock", "[report]") {
  const auto deep = Report::read(repeated("[", 1'000'000), "deep.json");
  REQUIRE_FALSE(deep);
  CHECK(deep.error().code == Errc::limit);

  std::string wide = "{";
  for (int i = 0; i < 200'000; ++i) wide += "\"" + std::to_string(i) + "\":0,";
  const auto many = Report::read(wide + "\"x\":0}", "wide.json");
  REQUIRE_FALSE(many);
  CHECK(many.error().code == Errc::limit);

  const std::string braces =
      R"({"schema_version":1,"verdict":"same","x":")" + repeated("[{", 500) + "\"}";
  CHECK(Report::read(braces, "text.json"));
}

TEST_CASE("missing fields are tolerated", "[report]") {
  for (const char* verdict : {"same", "divergent", "inconclusive"}) {
    const auto report =
        Report::read(std::string(R"({"schema_version":1,"verdict":")") + verdict + "\"}", "x");
    REQUIRE(report);
    CHECK_FALSE(report->text({}).empty());
  }
}

TEST_CASE("a report with fields of any other type still prints", "[report]") {
  auto document = nlohmann::json::parse(saved());
  std::size_t count = 0;
  for (const auto& by : {nlohmann::json(nullptr), nlohmann::json("x"), nlohmann::json(-1),
                         nlohmann::json(18446744073709551615ULL), nlohmann::json(0.5),
                         nlohmann::json::array({1}), nlohmann::json{{"x", 1}}}) {
    replace_each(document, document, by, count);
  }
  CHECK(count > 1000);
}

TEST_CASE("a report cut anywhere is refused", "[report]") {
  const std::string text = saved();
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
    CHECK_FALSE(Report::read(text.substr(0, size), "x"));
  }
}
