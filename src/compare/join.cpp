#include <fmt/format.h>

#include <algorithm>

#include "compare/classify.hpp"
#include "compare/roles.hpp"

namespace detdiff::compare {
namespace {

bool entered_unequally(const RankResult& rank, std::uint64_t collective) {
  return std::find(rank.differing_inputs.begin(), rank.differing_inputs.end(), collective) !=
         rank.differing_inputs.end();
}

void join_one(Comparison& comparison, std::size_t index, Finding& finding) {
  std::vector<std::string> unequal;
  for (std::size_t other = 0; other < comparison.ranks.size(); ++other) {
    const RankResult& rank = comparison.ranks[other];
    if (!entered_unequally(rank, finding.collective)) continue;
    unequal.push_back(rank.rank ? std::to_string(*rank.rank) : "?");
    if (other == index) {
      finding.cls = Class::receiver;
      finding.reason = "its own input of this collective differs already";
      return;
    }
  }
  if (!unequal.empty()) {
    std::string list;
    for (std::size_t i = 0; i < unequal.size() && i < 8; ++i) list += (i == 0 ? "" : ", ") + unequal[i];
    if (unequal.size() > 8) list += fmt::format(" and {} more", unequal.size() - 8);
    finding.cls = Class::receiver;
    finding.reason = fmt::format(
        "its own input matches, but rank{} {} entered this collective with other values",
        unequal.size() == 1 ? "" : "s", list);
    return;
  }
  if (!finding.own_input_matched) {
    finding.cls = Class::uncertain;
    finding.reason = "the inputs of this collective were not recorded";
    return;
  }
  std::size_t missing = 0;
  for (const RankResult& rank : comparison.ranks) missing += rank.in_a && rank.in_b ? 0 : 1;
  if (missing != 0) {
    finding.cls = Class::undecidable;
    finding.reason = fmt::format(
        "its own input matches, but {} rank{} recorded in one run only, and any of them may have "
        "brought the difference in",
        missing, missing == 1 ? " is" : "s are");
    return;
  }
  finding.cls = Class::origin;
  finding.reason =
      "every recorded member entered this collective with equal values and it returned others: the "
      "reduction itself (algorithm, order, topology) differs";
}

const Finding* find_at(const RankResult& rank, std::int64_t iteration, MetricPhase phase) {
  for (const Finding& finding : rank.findings) {
    if (finding.record().site.iteration == iteration && metric_phase(finding.record()) == phase) {
      return &finding;
    }
  }
  return nullptr;
}

void set_metric(Comparison& comparison, Finding& finding, MetricPattern pattern, std::string reason) {
  comparison.metric_pattern = pattern;
  finding.reason = std::move(reason);
}

void judge_rank_metrics(Comparison& comparison, const RankResult& rank, Finding& finding) {
  const std::int64_t at = finding.record().site.iteration.value_or(INT64_MIN);
  const bool resumed = comparison.resumed.has_value() || rank.a.segments.size() > 1 ||
                       rank.b.segments.size() > 1;
  const bool first = resumed && finding.first_resumed;
  const bool second = resumed && finding.second_resumed;
  const MetricPhase phase = metric_phase(finding.record());
  finding.cls = Class::uncertain;
  finding.restore.reset();
  if (phase == MetricPhase::backward) {
    finding.classified = false;
    return set_metric(comparison, finding, MetricPattern::backward,
                      "the loss of this step matches and what the backward pass made does not: "
                      "nondeterminism in backward or in the gradient reduction");
  }
  if (phase == MetricPhase::optimizer) {
    comparison.metric_pattern = MetricPattern::optimizer;
    finding.reason = "loss and gradients of this step match, what the optimizer made of them does not";
    if (first) {
      finding.cls = Class::restore;
      finding.restore = role_of(finding.record()) == Role::schedule ? Restore::scheduler
                                                                    : Restore::optimizer;
    }
    return;
  }
  if (first) {
    finding.cls = Class::restore;
    return set_metric(comparison, finding, MetricPattern::forward,
                      "the loss differs at the first resumed step: parameters, generator or data "
                      "were not restored; metrics cannot tell which");
  }
  if (second && (rank.backward_metrics || find_at(rank, at, MetricPhase::backward) != nullptr)) {
    finding.cls = Class::restore;
    finding.restore = Restore::optimizer;
    return set_metric(comparison, finding, MetricPattern::optimizer,
                      "the first resumed step matches in loss and gradients, the next does not: the "
                      "optimizer state was not restored, or its update differs");
  }
  if (rank.first_common == at) {
    return set_metric(comparison, finding, MetricPattern::forward,
                      "the first common step differs in the loss: the runs did not start alike "
                      "(parameters, seed or data)");
  }
  finding.reason = "metrics alone cannot tell where it was born: the loss shows a difference one or "
                   "more steps after it arose";
}

}  // namespace

void join_ranks(Comparison& comparison) {
  for (std::size_t i = 0; i < comparison.ranks.size(); ++i) {
    for (Finding& finding : comparison.ranks[i].findings) {
      if (finding.collective != 0 && finding.cls != Class::restore) join_one(comparison, i, finding);
    }
  }
}

void judge_metrics(Comparison& comparison) {
  for (RankResult& rank : comparison.ranks) {
    if (rank.findings.empty()) continue;
    Finding& finding = rank.findings.front();
    if (finding.kind != Kind::value) continue;
    judge_rank_metrics(comparison, rank, finding);
  }
}

}  // namespace detdiff::compare
