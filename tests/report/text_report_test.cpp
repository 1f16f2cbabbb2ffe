#include <algorithm>
#include <string>

#include "report/report.hpp"
#include "report/samples.hpp"
#include "report/utf8.hpp"
#include "support/catch.hpp"

using namespace detdiff;
using namespace detdiff::report;

namespace {

std::string text_of(const compare::Comparison& comparison, const TextOptions& options = {}) {
  return Report::make(comparison, samples::context()).text(options);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t line_count(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("a divergent report climbs down the ladder", "[report]") {
  TextOptions options;
  options.height = 50;
  CHECK(
      text_of(samples::divergent(), options) ==
      R"(DIVERGENT  first at iteration 3, rank 1, backward, decoder.layers.1.mlp.linear_fc2, weight.grad  (1 origin, 1 receiver)

  iteration   3                                1-2 match on 2 of 2 ranks, 1,284 tensors
  phase       backward                         forward of this iteration matches on 2 of 2 ranks
  module      decoder.layers.1.mlp.linear_fc2  212 tensors before it in this iteration match
  operation   not recorded
  kernel      not recorded
  tensor      weight.grad                      float32[32, 128]
    A         sha256 3f2a91d0c1b2e3f4..  runs/a/rank_000001.jsonl:1475
    B         sha256 91bc04aa00112233..  runs/b/rank_000001.jsonl:1475
  last match  decoder.layers.1.mlp.linear_fc2, input  (the cause lies between these two records)

  class       origin
  meaning     All that it was recorded to depend on is equal, and it differs: the difference was born here.
  because     every record before it on this rank is equal

  other ranks
    rank  result
       0  receiver  first at iteration 3, grad_sync, allreduce.bucket1, output

  evidence    full sha256; 2 of 2 ranks, 8 of 8 iterations, 9,876 records compared, 0 left out
  run A       runs/a  Megatron-LM determinism trace (PR 6610), 2 ranks, 1,234,567 bytes
  run B       runs/b  Megatron-LM determinism trace (PR 6610), 2 ranks, 1,234,569 bytes

  next        see this record, then run its operation alone on these inputs, many times
              detdiff show runs/a iteration=3,phase=backward,module=decoder.layers.1.mlp.linear_fc2,tensor=weight.grad,rank=1
)");
}

TEST_CASE("the verdict line of equal runs says what it rests on", "[report]") {
  auto comparison = samples::same();
  CHECK(first_line(text_of(comparison)) ==
        "SAME  8 iterations, 2 of 2 ranks, 9,876 records match bit for bit (sha256)");

  const auto rest_on = [&comparison](Evidence evidence, std::optional<DigestKind> kind) {
    comparison.evidence = {};
    comparison.evidence.by_strength[static_cast<std::size_t>(evidence)] = 9876;
    if (kind) comparison.evidence.by_kind[static_cast<std::size_t>(*kind)] = 9876;
    comparison.weakest = evidence;
    return first_line(text_of(comparison));
  };
  CHECK(rest_on(Evidence::strong, std::nullopt) ==
        "SAME  8 iterations, 2 of 2 ranks, 9,876 records match bit for bit (exact values)");
  CHECK(rest_on(Evidence::checksum, DigestKind::crc32) ==
        "SAME in 32-bit checksums (crc32)  8 iterations, 2 of 2 ranks, 9,876 records match");
  CHECK(rest_on(Evidence::order_blind, DigestKind::xor64_f64) ==
        "SAME in order-blind digests (xor64-f64)  8 iterations, 2 of 2 ranks, 9,876 records match");
  CHECK(rest_on(Evidence::sampled, DigestKind::sha256) ==
        "SAME in samples (sha256)  8 iterations, 2 of 2 ranks, 9,876 records match");
  CHECK(rest_on(Evidence::statistics, std::nullopt) ==
        "SAME in statistics  8 iterations, 2 of 2 ranks, 9,876 records match");
  CHECK(rest_on(Evidence::rounded, std::nullopt) ==
        "SAME at printed digits  8 iterations, 2 of 2 ranks, 9,876 records match");
  comparison.evidence.printed_digits = 5;
  CHECK(first_line(text_of(comparison)) ==
        "SAME at 5 printed digits  8 iterations, 2 of 2 ranks, 9,876 records match");
}

TEST_CASE("weak evidence says what it cannot see", "[report]") {
  auto comparison = samples::same();
  comparison.evidence = {};
  comparison.evidence.by_strength[static_cast<std::size_t>(Evidence::order_blind)] = 9876;
  comparison.evidence.by_kind[static_cast<std::size_t>(DigestKind::xor64_f64)] = 9876;
  comparison.weakest = Evidence::order_blind;
  CHECK(contains(text_of(comparison), "xor64-f64 cannot see a permutation"));
  CHECK(contains(text_of(samples::metrics()),
                 "printed digits cannot see a difference below the last printed digit"));
}

TEST_CASE("the last match brackets the cause only where it does", "[report]") {
  auto comparison = samples::divergent();
  CHECK(contains(text_of(comparison), "(the cause lies between these two records)"));
  comparison.ranks[1].findings[0].cls = compare::Class::receiver;
  CHECK_FALSE(contains(text_of(comparison), "the cause lies between"));
}

TEST_CASE("a call says whether its inputs match", "[report]") {
  auto comparison = samples::divergent();
  auto& finding = comparison.ranks[1].findings[0];
  for (auto* record : {&*finding.a, &*finding.b}) {
    record->kind = RecordKind::call;
    record->site.operation = "aten.mm.default";
    record->outputs[0].tensor = "out0";
  }
  CHECK(contains(text_of(comparison),
                 "aten.mm.default                  its inputs were not recorded\n"));
  for (auto* record : {&*finding.a, &*finding.b}) {
    record->inputs_recorded = true;
    record->inputs = {samples::tensor("bfloat16", {4}, "1"), samples::tensor("bfloat16", {4}, "2")};
  }
  CHECK(contains(text_of(comparison), "its 2 inputs match\n"));
  CHECK(contains(text_of(comparison), "  tensor      output out0 "));
  finding.match.inputs_differ = finding.match.tensor_is_input = true;
  finding.match.tensor = 1;
  finding.b->inputs[1] = samples::tensor("bfloat16", {4}, "3");
  CHECK(contains(text_of(comparison), "an input differs already\n"));
  CHECK(contains(text_of(comparison), "  tensor      input 1 "));
}

TEST_CASE("layouts, attributes and counts of tensors are held against each other", "[report]") {
  auto comparison = samples::divergent();
  auto& finding = comparison.ranks[1].findings[0];
  finding.kind = compare::Kind::shape;
  finding.b->outputs[0].shape = {32, 64};
  std::string text = text_of(comparison);
  CHECK(contains(text, "    A         float32[32, 128]  runs/a"));
  CHECK(contains(text, "    B         float32[32, 64]   runs/b"));
  CHECK(contains(first_line(text), "(shape differs, 1 origin, 1 receiver)"));

  finding.b->outputs.push_back(finding.b->outputs[0]);
  finding.match.tensor = 1;
  text = text_of(comparison);
  CHECK(contains(text, "    A         1 output   runs/a"));
  CHECK(contains(text, "    B         2 outputs  runs/b"));

  finding.match.attribute = "requires_grad";
  finding.a->attributes = {{"requires_grad", "true"}};
  text = text_of(comparison);
  CHECK(contains(text, "    A         requires_grad true    runs/a"));
  CHECK(contains(text, "    B         requires_grad absent  runs/b"));
}

TEST_CASE("digests that agree in what is shown are shown whole", "[report]") {
  auto comparison = samples::divergent();
  auto& finding = comparison.ranks[1].findings[0];
  finding.b->outputs[0] = samples::tensor("float32", {32, 128}, "3f2a91d0c1b2e3f4ff");
  CHECK(contains(text_of(comparison), "    A         sha256 3f2a91d0c1b2e3f455000000"));
}

TEST_CASE("a restore defect names the state and shows the resumed run", "[report]") {
  const std::string text = text_of(samples::restore_rng());
  CHECK(contains(first_line(text), "(1 restore defect)"));
  CHECK(contains(text, "  iteration   5 "));
  CHECK(contains(text, "the first iteration that both runs recorded\n"));
  CHECK(contains(text, "  class       restore of rng\n"));
  CHECK(contains(text, "4 of 8 iterations (5-8)"));
  CHECK(contains(text, "  resumed     B starts later"));
  CHECK(contains(text, "  notice      B begins at iteration 5"));
  CHECK(contains(text, "detdiff show runs/b iteration=5,phase=forward"));
}

TEST_CASE("a missing record shows the side that has it", "[report]") {
  const std::string text = text_of(samples::control_flow());
  CHECK(first_line(text) ==
        "DIVERGENT  first at iteration 3, rank 0, forward, decoder.layers.1.input_layernorm, "
        "occurrence 1  (missing in A, 1 control flow)");
  CHECK(contains(text, "    A         no such record\n"));
  CHECK(contains(text, "and 2 more records in B after it, without counterpart"));
  CHECK(contains(text, "  other ranks 1 rank is the same (1)\n"));
  CHECK(contains(text, "detdiff show runs/b iteration=3"));
}

TEST_CASE("metrics alone show values, a pattern and no class", "[report]") {
  const std::string text = text_of(samples::metrics());
  CHECK(first_line(text) ==
        "DIVERGENT  first at iteration 51, num-zeros  (metrics point to the backward pass)");
  CHECK(contains(text, "    A         37030 (5 printed digits)  fresh.json\n"));
  CHECK(contains(text, "    B         37027 (5 printed digits)  resumed.json\n"));
  CHECK(contains(text, "  pattern     backward\n"));
  CHECK_FALSE(contains(text, "  class "));
}

TEST_CASE("an inconclusive report gives its reasons and what matched", "[report]") {
  auto comparison = samples::missing_rank();
  std::string text = text_of(comparison);
  CHECK(first_line(text) == "INCONCLUSIVE  rank 1 was recorded in A only");
  CHECK(contains(text,
                 "  compared    8 iterations, 1 of 2 ranks, 4,938 records: no difference found"));
  CHECK(contains(text, "       1  inconclusive  recorded in A only\n"));
  CHECK(contains(text, "    1 more rank is the same (0)\n"));

  comparison.inconclusive_because.push_back("the log of rank 0 is cut off");
  text = text_of(comparison);
  CHECK(contains(first_line(text), "(and 1 more reason)"));
  CHECK(contains(text, "  because     the log of rank 0 is cut off\n"));
}

TEST_CASE("the rank table says what it does not show", "[report]") {
  TextOptions options;
  options.max_rows = 5;
  const std::string text = text_of(samples::many_ranks(100), options);
  CHECK(contains(text, "    ... 29 more ranks not shown; --max-rows 0 shows all\n"));
  CHECK(contains(text, "    65 more ranks are the same\n"));
  options.max_rows = 0;
  const std::string all = text_of(samples::many_ranks(100), options);
  CHECK_FALSE(contains(all, "not shown"));
  CHECK(contains(all, "\n      99  receiver  first at iteration 4"));
}

TEST_CASE("the verdict is repeated below a report that does not fit the screen", "[report]") {
  TextOptions options;
  options.height = 24;
  const std::string text = text_of(samples::divergent(), options);
  const std::string verdict = first_line(text);
  CHECK(text.ends_with("\n" + verdict + "\n"));
  options.height = 60;
  CHECK_FALSE(text_of(samples::divergent(), options).ends_with("\n" + verdict + "\n"));
  options.height = 0;  // no screen: 24 lines are assumed
  CHECK(text_of(samples::divergent(), options).ends_with("\n" + verdict + "\n"));
  CHECK_FALSE(text_of(samples::same(), options).ends_with("sha256)\n"));
}

TEST_CASE("quiet prints the verdict line only", "[report]") {
  TextOptions options;
  options.quiet = true;
  CHECK(line_count(text_of(samples::divergent(), options)) == 1);
}

TEST_CASE("verbose adds evidence by kind, files and every next step", "[report]") {
  TextOptions options;
  options.verbosity = 1;
  const std::string text = text_of(samples::divergent(), options);
  CHECK(contains(text, "  by strength strong 9,876\n"));
  CHECK(contains(text, "  by digest   sha256 9,876\n"));
  CHECK(contains(text, "    A       0    4,938  1-8         runs/a/rank_000000.jsonl\n"));
  CHECK(contains(text, "the last record that still matches"));
}

TEST_CASE("colour marks the verdict and changes no text", "[report]") {
  TextOptions options;
  std::string plain = text_of(samples::divergent(), options);
  options.color = true;
  std::string colored = text_of(samples::divergent(), options);
  CHECK(colored.starts_with("\x1b[1;31mDIVERGENT\x1b[0m  first at"));
  for (std::size_t at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b')) {
    colored.erase(at, colored.find('m', at) - at + 1);
  }
  CHECK(colored == plain);
}

TEST_CASE("text of a log cannot harm a terminal, a CI job or the layout", "[report]") {
  for (const int verbosity : {0, 1}) {
    auto context = samples::context();
    context.inputs[0].path = samples::k_hostile;
    context.inputs[1].title = samples::k_hostile;
    context.filters = {std::string(samples::k_hostile)};
    TextOptions options;
    options.verbosity = verbosity;
    const std::string text = Report::make(samples::hostile(), context).text(options);
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint point = decode_utf8(text, at);
      REQUIRE(point.valid);
      REQUIRE((point.value == '\n' || !is_control(point.value)));
      at += point.size;
    }
    CHECK_FALSE(contains(text, "##"));
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const std::size_t begin = text.find_first_not_of(' ', at);
      CHECK(text.compare(begin, 2, "a\\") != 0);
      CHECK(text.compare(begin, 2, "::") != 0);
    }
  }
}
