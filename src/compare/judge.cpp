#include "compare/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "compare/classify.hpp"

namespace detdiff::compare {
namespace {

int weight(Class cls) {
  switch (cls) {
    case Class::restore:
    case Class::origin:
    case Class::control_flow: return 0;
    case Class::undecidable:
    case Class::uncertain: return 1;
    case Class::view: return 2;
    case Class::artifact: return 3;
    case Class::receiver: return 4;
  }
  return 5;
}

// The earliest iteration leads, then the phase, and inside that origins before receivers.
void choose_lead(Comparison& comparison) {
  const auto order = [&comparison](std::size_t index) {
    const Finding& finding = comparison.ranks[index].findings.front();
    return std::tuple(finding.record().site.iteration.value_or(INT64_MIN), finding.phase_order,
                      weight(finding.cls), index);
  };
  for (std::size_t i = 0; i < comparison.ranks.size(); ++i) {
    if (comparison.ranks[i].findings.empty()) continue;
    if (!comparison.lead || order(i) < order(*comparison.lead)) comparison.lead = i;
  }
}

std::string name_of(const RankResult& rank) {
  return rank.rank ? fmt::format("rank {}", *rank.rank) : std::string("the log");
}

void add_loss(const RankResult& rank, const SideSummary& side, char name, std::vector<std::string>& why) {
  if (side.damage) {
    const std::string& file = name == 'A' ? rank.file_a : rank.file_b;
    why.push_back(side.damage->position.line != 0
                      ? fmt::format("{}:{}: {}", file, side.damage->position.line, side.damage->text)
                      : fmt::format("{}: {}", file, side.damage->text));
  } else if (side.ends_inside_iteration) {
    why.push_back(fmt::format("{} of {} ends inside iteration {}: the rest of it is missing",
                              name_of(rank), name,
                              rank.compared ? std::to_string(rank.compared->last) : "?"));
  }
}

void judge_rank(RankResult& rank, const Options& options) {
  std::vector<std::string> loss;
  add_loss(rank, rank.a, 'A', loss);
  add_loss(rank, rank.b, 'B', loss);
  if (!rank.findings.empty()) {
    rank.verdict = Verdict::divergent;
  } else if (!rank.in_a || !rank.in_b || rank.records_compared == 0 ||
             rank.evidence.not_comparable != 0 || !loss.empty() ||
             rank.evidence.weakest() < std::max(options.require, Evidence::rounded)) {
    rank.verdict = Verdict::inconclusive;
  } else {
    rank.verdict = Verdict::same;
  }
}

void add_coverage(Comparison& comparison) {
  for (const RankResult& rank : comparison.ranks) {
    comparison.ranks_a += rank.in_a ? 1 : 0;
    comparison.ranks_b += rank.in_b ? 1 : 0;
    comparison.ranks_compared += rank.in_a && rank.in_b ? 1 : 0;
    comparison.evidence += rank.evidence;
    comparison.records_compared += rank.records_compared;
    comparison.left_out += rank.records_left_out + rank.evidence.ignored;
    if (!rank.compared) continue;
    auto& all = comparison.compared;
    if (!all) all = rank.compared;
    all->first = std::min(all->first, rank.compared->first);
    all->last = std::max(all->last, rank.compared->last);
    all->count = std::max(all->count, rank.compared->count);
  }
  comparison.weakest = comparison.evidence.weakest();
}

void explain_inconclusive(Comparison& comparison) {
  auto& why = comparison.inconclusive_because;
  if (comparison.records_compared == 0) {
    why.push_back("the runs have no record in common: no rank, iteration or name agrees");
  }
  for (const RankResult& rank : comparison.ranks) {
    if (!rank.in_a || !rank.in_b) {
      why.push_back(fmt::format("{} is missing in {}", name_of(rank), rank.in_a ? 'B' : 'A'));
      continue;
    }
    add_loss(rank, rank.a, 'A', why);
    add_loss(rank, rank.b, 'B', why);
    if (rank.records_compared == 0 && comparison.records_compared != 0) {
      why.push_back(fmt::format("{} has no record in common", name_of(rank)));
    }
  }
  if (comparison.evidence.not_comparable != 0) {
    why.push_back(fmt::format("{} tensors carry digests of kinds that do not compare",
                              comparison.evidence.not_comparable));
  }
  if (comparison.records_compared == 0) return;
  if (comparison.weakest < Evidence::rounded) {
    const auto bare = comparison.evidence.by_strength[static_cast<std::size_t>(Evidence::metadata)] +
                      comparison.evidence.by_strength[static_cast<std::size_t>(Evidence::none)];
    why.push_back(comparison.evidence.tensors == 0
                      ? std::string("only events were recorded, no value")
                      : fmt::format("{} of {} tensors were recorded without a value", bare,
                                    comparison.evidence.tensors));
  } else if (comparison.weakest < comparison.required) {
    why.push_back(fmt::format("the evidence is {} and {} was required",
                              to_string(comparison.weakest), to_string(comparison.required)));
  }
}

}  // namespace

void judge(Comparison& comparison, const Options& options) {
  comparison.required = options.require;
  comparison.metrics_only =
      comparison.metrics_only ||
      std::none_of(comparison.ranks.begin(), comparison.ranks.end(),
                   [](const RankResult& rank) { return rank.has_tensors; });
  for (RankResult& rank : comparison.ranks) {
    if (rank.records_compared != 0) continue;
    // Where not one record is in both, the logs have nothing in common, and nothing is missing.
    rank.findings.clear();
    rank.finding_count = 0;
  }
  join_ranks(comparison);
  if (comparison.metrics_only) judge_metrics(comparison);
  add_coverage(comparison);
  for (RankResult& rank : comparison.ranks) judge_rank(rank, options);
  choose_lead(comparison);
  if (comparison.lead) {
    comparison.verdict = Verdict::divergent;
    return;
  }
  const bool all_same = !comparison.ranks.empty() &&
                        std::all_of(comparison.ranks.begin(), comparison.ranks.end(),
                                    [](const RankResult& rank) { return rank.verdict == Verdict::same; });
  comparison.verdict = all_same ? Verdict::same : Verdict::inconclusive;
  if (!all_same) explain_inconclusive(comparison);
}

}  // namespace detdiff::compare
