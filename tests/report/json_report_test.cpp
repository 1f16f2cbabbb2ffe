#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "report/report.hpp"
#include "report/samples.hpp"
#include "support/catch.hpp"

using namespace detdiff;
using namespace detdiff::report;
using nlohmann::json;

namespace {

json document_of(const compare::Comparison& comparison) {
  return json::parse(Report::make(comparison, samples::context()).json());
}

}  // namespace

TEST_CASE("the JSON report holds the fields of its schema", "[report]") {
  const json report = document_of(samples::divergent());
  CHECK(report["schema_version"] == 1);
  CHECK(report["tool"] == json{{"name", "detdiff"}, {"version", "0.1.0"}});
  CHECK(report["argv"] == json{"detdiff", "compare", "runs/a", "runs/b"});
  CHECK(report["inputs"][0]["path"] == "runs/a");
  CHECK(report["inputs"][0]["format"] == "megatron-trace");
  CHECK(report["inputs"][0]["bytes"] == 1'234'567);
  CHECK(report["inputs"][1]["ranks"] == 2);
  CHECK(report["verdict"] == "divergent");
  CHECK(report["exit"] == 1);
  CHECK(report["kind"] == "value");
  CHECK(report["class"] == "origin");
  CHECK(report["restore"].is_null());
  CHECK(report["metric_pattern"].is_null());
  CHECK(report["first"] == json{{"rank", 1},
                                {"iteration", 3},
                                {"microbatch", nullptr},
                                {"phase", "backward"},
                                {"module", "decoder.layers.1.mlp.linear_fc2"},
                                {"operation", nullptr},
                                {"kernel", nullptr},
                                {"tensor", "weight.grad"},
                                {"occurrence", 0},
                                {"name", "decoder.layers.1.mlp.linear_fc2.weight.grad"}});
  CHECK(report["coverage"]["iterations"] ==
        json{{"first", 1}, {"last", 8}, {"compared", 8}, {"recorded", 8}});
  CHECK(report["coverage"]["records_compared"] == 9876);
  CHECK(report["evidence"]["weakest"] == "strong");
  CHECK(report["evidence"]["kinds"] == json{{"sha256", 9876}});
  CHECK(report["evidence"]["required"] == "rounded");
  CHECK(report["counts"]["first_by_class"] == json{{"origin", 1}, {"receiver", 1}});
}

TEST_CASE("every rank has its own first divergence and last match", "[report]") {
  const json ranks = document_of(samples::divergent())["ranks"];
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[0]["rank"] == 0);
  CHECK(ranks[0]["verdict"] == "divergent");
  CHECK(ranks[0]["class"] == "receiver");
  CHECK(ranks[0]["first"]["tensor"] == "output");
  CHECK(ranks[0]["last_match"]["tensor"] == "input");
  CHECK(ranks[1]["class"] == "origin");
  CHECK(ranks[1]["records_compared"] == 4938);
  CHECK(document_of(samples::same())["ranks"][0]["first"].is_null());
}

TEST_CASE("digests are exact strings", "[report]") {
  const json record = document_of(samples::divergent())["first_record"];
  const json digest = record["a"]["outputs"][0]["digests"][0];
  CHECK(digest["kind"] == "sha256");
  CHECK(digest["hex"] == "3f2a91d0c1b2e3f455" + std::string(46, '0'));
  CHECK(record["a"]["line"] == 1475);
  CHECK(record["b"]["file"] == "runs/b/rank_000001.jsonl");
  CHECK(record["differs"] == json{{"what", "output"}, {"index", 0}});
}

TEST_CASE("values, statistics and large integers are not rounded", "[report]") {
  auto comparison = samples::metrics();
  auto& finding = comparison.ranks[0].findings[0];
  finding.a->outputs[0].value = "9007199254740993";
  finding.a->outputs[0].statistics = {{"mean", 0.1},
                                      {"max", std::numeric_limits<double>::infinity()}};
  finding.a->sequence = 18446744073709551615ULL;
  const json a = document_of(comparison)["first_record"]["a"];
  CHECK(a["outputs"][0]["value"] == "9007199254740993");
  CHECK(a["outputs"][0]["statistics"][0]["value"] == "0.1");
  CHECK(a["outputs"][0]["statistics"][1]["value"] == "inf");
  CHECK(a["sequence"] == 18446744073709551615ULL);
}

TEST_CASE("verdict, exit and class follow the comparison", "[report]") {
  CHECK(document_of(samples::same())["exit"] == 0);
  CHECK(document_of(samples::same())["first"].is_null());
  CHECK(document_of(samples::missing_rank())["exit"] == 3);
  CHECK(document_of(samples::missing_rank())["inconclusive_because"].size() == 1);
  CHECK(document_of(samples::missing_rank())["ranks"][1]["b"].is_null());
  CHECK(document_of(samples::metrics())["class"].is_null());
  CHECK(document_of(samples::metrics())["metric_pattern"] == "backward");
  CHECK(document_of(samples::restore_rng())["class"] == "restore");
  CHECK(document_of(samples::restore_rng())["restore"] == "rng");
  CHECK(document_of(samples::restore_rng())["resumed"] == "b");
  CHECK(document_of(samples::control_flow())["kind"] == "missing_in_a");
  CHECK(document_of(samples::control_flow())["first_record"]["a"].is_null());
  CHECK(Report::make(samples::same(), {}).exit_status() == 0);
  CHECK(Report::make(samples::divergent(), {}).exit_status() == 1);
  CHECK(Report::make(samples::missing_rank(), {}).exit_status() == 3);
}

TEST_CASE("iterations of B are counted as B counts them where its log is shown", "[report]") {
  auto comparison = samples::divergent();
  comparison.offset = 50;
  const json report = document_of(comparison);
  CHECK(report["first"]["iteration"] == 3);
  CHECK(report["first_record"]["a"]["iteration"] == 3);
  CHECK(report["first_record"]["b"]["iteration"] == 53);
  CHECK(report["next"][1]["command"].get<std::string>().find("iteration=53") != std::string::npos);
}

TEST_CASE("the JSON report is plain ASCII whatever the logs hold", "[report]") {
  auto context = samples::context();
  context.argv.emplace_back(samples::k_hostile);
  context.inputs[0].path = samples::k_hostile;
  const std::string text = Report::make(samples::hostile(), context).json();
  for (const char c : text) REQUIRE((c == '\n' || (c >= 0x20 && c < 0x7f)));
  CHECK(text.find("##") == std::string::npos);
  const json report = json::parse(text);
  CHECK(report["first"]["phase"] ==
        "a\x1b[31m\nb\xc2\x9b\xe2\x80\xae\\xff\r::error ::##[x]"
        "\xf3\xa0\x81\x81\x7f");
}

TEST_CASE("next steps are commands of this program, or null", "[report]") {
  for (const auto& comparison :
       {samples::divergent(), samples::restore_rng(), samples::control_flow(), samples::metrics(),
        samples::missing_rank(), samples::hostile()}) {
    const json next = document_of(comparison)["next"];
    REQUIRE_FALSE(next.empty());
    for (const auto& step : next) {
      CHECK_FALSE(step["text"].get<std::string>().empty());
      if (step["command"].is_null()) continue;
      const auto command = step["command"].get<std::string>();
      CHECK((command.starts_with("detdiff show ") || command.starts_with("detdiff help ") ||
             command.starts_with("detdiff compare ")));
    }
  }
  CHECK(document_of(samples::same())["next"].empty());
}

TEST_CASE("an artifact is left out of the next comparison, with the filters given before",
          "[report]") {
  auto comparison = samples::divergent();
  auto& finding = comparison.ranks[1].findings[0];
  finding.cls = compare::Class::artifact;
  finding.a->site.name = "aten.bernoulli_*";
  auto context = samples::context();
  context.filters = {"--only rank=1"};
  const json report = json::parse(Report::make(comparison, context).json());
  CHECK(report["next"][0]["command"] ==
        "detdiff compare --only rank=1 --skip 'name=aten.bernoulli_\\*' runs/a runs/b");
}

TEST_CASE("standard input gives no command that would wait for it", "[report]") {
  auto context = samples::context();
  context.inputs[0].path = "-";
  const json report = json::parse(Report::make(samples::divergent(), context).json());
  CHECK(report["next"][0]["command"] ==
        "detdiff show runs/b iteration=3,phase=backward,module=decoder.layers.1.mlp.linear_fc2,"
        "tensor=weight.grad,rank=1");
}

TEST_CASE("a report of very many findings keeps the first of every rank and counts all",
          "[report]") {
  auto comparison = samples::many_ranks(300);
  for (auto& rank : comparison.ranks) {
    if (rank.findings.empty()) continue;
    rank.findings.resize(64, rank.findings.front());
    rank.finding_count = 1000;
  }
  const json report = document_of(comparison);
  CHECK(report["ranks"][3]["finding_count"] == 1000);
  CHECK(report["ranks"][3]["findings"].size() == 4096 / 300);
}
