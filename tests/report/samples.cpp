#include "report/samples.hpp"

namespace detdiff::report::samples {

using compare::Class;
using compare::Comparison;
using compare::Finding;
using compare::IterationSpan;
using compare::Kind;
using compare::RankResult;
using compare::Verdict;

Digest digest(DigestKind kind, std::string_view hex) {
  Digest out;
  (void)parse_hex(hex, out);
  out.kind = kind;
  return out;
}

Fingerprint tensor(std::string_view dtype, std::vector<std::int64_t> shape,
                   std::string_view sha256) {
  Fingerprint out;
  out.dtype = dtype;
  out.has_shape = true;
  out.shape = std::move(shape);
  std::string hex(sha256);
  hex.resize(64, '0');
  out.digests.push_back(digest(DigestKind::sha256, hex));
  return out;
}

Site site(std::uint32_t rank, std::int64_t iteration, std::string phase, std::string module,
          std::string name) {
  Site out;
  out.rank = rank;
  out.iteration = iteration;
  out.phase = std::move(phase);
  out.module = std::move(module);
  out.tensor = std::move(name);
  out.name = out.module + (out.tensor.empty() ? "" : "." + out.tensor);
  return out;
}

Record boundary(Site site, Fingerprint fingerprint, std::uint64_t line) {
  Record out;
  out.site = std::move(site);
  out.outputs.push_back(std::move(fingerprint));
  out.position = {line, line * 300};
  return out;
}

Record scalar(std::int64_t iteration, std::string name, std::string value, int printed_digits) {
  Record out;
  out.kind = RecordKind::scalar;
  out.site.iteration = iteration;
  out.site.tensor = name;
  out.site.name = std::move(name);
  Fingerprint fingerprint;
  fingerprint.value = std::move(value);
  fingerprint.printed_digits = printed_digits;
  out.outputs.push_back(std::move(fingerprint));
  return out;
}

Context context() {
  Context out;
  out.version = "0.1.0";
  out.argv = {"detdiff", "compare", "runs/a", "runs/b"};
  const std::string title = "Megatron-LM determinism trace (PR 6610)";
  out.inputs = {{"runs/a", "megatron-trace", title, "", 1'234'567, 2, false},
                {"runs/b", "megatron-trace", title, "", 1'234'569, 2, false}};
  return out;
}

namespace {

RankResult rank_result(std::uint32_t number) {
  RankResult out;
  out.rank = number;
  out.file_a = "runs/a/rank_00000" + std::to_string(number) + ".jsonl";
  out.file_b = "runs/b/rank_00000" + std::to_string(number) + ".jsonl";
  out.verdict = Verdict::same;
  out.records_compared = 4938;
  out.compared = IterationSpan{1, 8, 8};
  out.iterations_equal = 8;
  out.first_common = 1;
  for (auto* side : {&out.a, &out.b}) {
    side->records = 4938;
    side->iterations = IterationSpan{1, 8, 8};
    side->segments = {{1, 8, 8}};
  }
  out.evidence.tensors = 4938;
  out.evidence.by_strength[static_cast<std::size_t>(Evidence::strong)] = 4938;
  out.evidence.by_kind[static_cast<std::size_t>(DigestKind::sha256)] = 4938;
  return out;
}

// What a comparison derives from its ranks.
void sum_up(Comparison& comparison) {
  comparison.evidence = {};
  comparison.records_compared = 0;
  comparison.ranks_a = comparison.ranks_b = comparison.ranks_compared = 0;
  for (const auto& rank : comparison.ranks) {
    comparison.evidence += rank.evidence;
    comparison.records_compared += rank.records_compared;
    comparison.ranks_a += rank.in_a ? 1 : 0;
    comparison.ranks_b += rank.in_b ? 1 : 0;
    comparison.ranks_compared += rank.in_a && rank.in_b ? 1 : 0;
  }
  comparison.weakest = comparison.evidence.weakest();
}

void diverge(RankResult& rank, Finding finding) {
  rank.verdict = Verdict::divergent;
  rank.last_match = finding.last_match;
  rank.finding_count = 1;
  rank.records_differing = 40;
  rank.iterations_equal = 2;
  rank.tensors_before = 642;
  rank.findings = {std::move(finding)};
}

Finding value_finding(Class cls, Record a, Record b, Record last_match) {
  Finding out;
  out.cls = cls;
  out.a = std::move(a);
  out.b = std::move(b);
  out.last_match = std::move(last_match);
  out.match.outcome = RecordMatch::Outcome::value;
  out.match.outputs_differ = true;
  return out;
}

Finding receiver(std::uint32_t rank, std::int64_t iteration) {
  Finding out =
      value_finding(Class::receiver,
                    boundary(site(rank, iteration, "grad_sync", "allreduce.bucket1", "output"),
                             tensor("float32", {4096}, "c0ffee"), 1501),
                    boundary(site(rank, iteration, "grad_sync", "allreduce.bucket1", "output"),
                             tensor("float32", {4096}, "decade"), 1501),
                    boundary(site(rank, iteration, "grad_sync", "allreduce.bucket1", "input"),
                             tensor("float32", {4096}, "00"), 1500));
  out.reason = "rank 1 entered this all-reduce with other gradients";
  out.phases_before = {"forward", "backward"};
  out.matched_in_iteration = 300;
  return out;
}

}  // namespace

Comparison same() {
  Comparison out;
  out.verdict = Verdict::same;
  out.ranks = {rank_result(0), rank_result(1)};
  out.compared = IterationSpan{1, 8, 8};
  sum_up(out);
  return out;
}

Comparison divergent() {
  Comparison out = same();
  out.verdict = Verdict::divergent;
  Finding origin = value_finding(
      Class::origin,
      boundary(site(1, 3, "backward", "decoder.layers.1.mlp.linear_fc2", "weight.grad"),
               tensor("float32", {32, 128}, "3f2a91d0c1b2e3f455"), 1475),
      boundary(site(1, 3, "backward", "decoder.layers.1.mlp.linear_fc2", "weight.grad"),
               tensor("float32", {32, 128}, "91bc04aa00112233ff"), 1475),
      boundary(site(1, 3, "backward", "decoder.layers.1.mlp.linear_fc2", "input"),
               tensor("float32", {16, 128}, "00"), 1474));
  origin.reason = "every record before it on this rank is equal";
  origin.phases_before = {"forward"};
  origin.matched_in_iteration = 212;
  diverge(out.ranks[1], std::move(origin));
  diverge(out.ranks[0], receiver(0, 3));
  out.lead = 1;
  return out;
}

Comparison many_ranks(std::uint32_t ranks) {
  Comparison out = divergent();
  for (std::uint32_t number = 2; number < ranks; ++number) {
    out.ranks.push_back(rank_result(number));
    if (number % 3 == 0) diverge(out.ranks.back(), receiver(number, 4));
  }
  sum_up(out);
  return out;
}

Comparison restore_rng() {
  Comparison out = same();
  out.verdict = Verdict::divergent;
  out.ranks.pop_back();
  Finding finding = value_finding(Class::restore,
                                  boundary(site(0, 5, "forward", "embedding.embedding_dropout", ""),
                                           tensor("float32", {16, 32}, "aa"), 3001),
                                  boundary(site(0, 5, "forward", "embedding.embedding_dropout", ""),
                                           tensor("float32", {16, 32}, "bb"), 9),
                                  boundary(site(0, 5, "forward", "embedding", "output"),
                                           tensor("float32", {16, 32}, "00"), 3000));
  finding.restore = compare::Restore::rng;
  finding.reason = "the first record with dropout differs after equal inputs";
  finding.matched_in_iteration = 24;
  auto& rank = out.ranks[0];
  diverge(rank, std::move(finding));
  rank.compared = IterationSpan{5, 8, 4};
  rank.first_common = 5;
  rank.tensors_before = 0;
  rank.b.iterations = IterationSpan{5, 8, 4};
  out.lead = 0;
  out.resumed = 'b';
  out.compared = rank.compared;
  out.left_out = 2469;
  out.notices = {{"window", "B begins at iteration 5: 1-4 of A have no counterpart"}};
  sum_up(out);
  return out;
}

Comparison control_flow() {
  Comparison out = same();
  out.verdict = Verdict::divergent;
  Finding finding;
  finding.kind = Kind::missing_in_a;
  finding.cls = Class::control_flow;
  finding.b = boundary(site(0, 3, "forward", "decoder.layers.1.input_layernorm", ""),
                       tensor("float32", {16, 32}, "77"), 1234);
  finding.b->site.occurrence = 1;
  finding.last_match = boundary(site(0, 3, "forward", "decoder.layers.1.input_layernorm", ""),
                                tensor("float32", {16, 32}, "77"), 1233);
  finding.matched_in_iteration = 31;
  finding.extra = 2;
  diverge(out.ranks[0], std::move(finding));
  out.ranks[0].records_missing_a = 3;
  out.lead = 0;
  return out;
}

Comparison missing_rank() {
  Comparison out = same();
  out.verdict = Verdict::inconclusive;
  out.ranks[1].in_b = false;
  out.ranks[1].verdict = Verdict::inconclusive;
  out.ranks[1].records_compared = 0;
  out.ranks[1].evidence = {};
  out.ranks[1].compared.reset();
  out.ranks[1].file_b.clear();
  out.inconclusive_because = {"rank 1 was recorded in A only"};
  out.notices = {{"missing_rank", "rank 1 is not in B"}};
  sum_up(out);
  return out;
}

Comparison metrics() {
  Comparison out;
  out.verdict = Verdict::divergent;
  out.metrics_only = true;
  out.metric_pattern = compare::MetricPattern::backward;
  Finding finding =
      value_finding(Class::uncertain, scalar(51, "num-zeros", "37030", 5),
                    scalar(51, "num-zeros", "37027", 5), scalar(51, "lm loss", "9.55048", 5));
  finding.classified = false;
  finding.reason = "lm loss first differs at iteration 53";
  finding.matched_in_iteration = 1;
  RankResult rank;
  diverge(rank, std::move(finding));
  rank.tensors_before = 0;
  rank.file_a = "fresh.json";
  rank.file_b = "resumed.json";
  rank.compared = IterationSpan{51, 100, 50};
  rank.records_compared = 100;
  rank.a.iterations = IterationSpan{1, 100, 100};
  rank.b.iterations = IterationSpan{51, 100, 50};
  rank.evidence.tensors = 100;
  rank.evidence.by_strength[static_cast<std::size_t>(Evidence::rounded)] = 100;
  out.ranks = {std::move(rank)};
  out.compared = IterationSpan{51, 100, 50};
  out.resumed = 'b';
  out.lead = 0;
  sum_up(out);
  return out;
}

Comparison hostile() {
  Comparison out = divergent();
  const std::string evil(k_hostile);
  auto& rank = out.ranks[1];
  auto& finding = rank.findings[0];
  for (auto* record : {&*finding.a, &*finding.b, &*finding.last_match}) {
    for (auto* text : {&record->site.phase, &record->site.module, &record->site.operation,
                       &record->site.kernel, &record->site.tensor, &record->site.name}) {
      *text = evil;
    }
    record->outputs[0].dtype = evil;
    record->outputs[0].tensor = evil;
    record->group = evil;
    record->attributes.push_back({evil, evil});
  }
  finding.reason = evil;
  finding.phases_before = {evil};
  rank.file_a = rank.file_b = evil;
  rank.a.damage = Damage{{1, 1}, evil};
  out.notices = {{evil, evil}};
  out.inconclusive_because = {evil};
  return out;
}

}  // namespace detdiff::report::samples
