#pragma once

#include "compare/comparison.hpp"
#include "support/catch.hpp"

namespace detdiff::test {

/// What holds for every comparison: counts add up, the lead is the earliest finding, and it is
/// divergent exactly if there is one.
inline void check_comparison(const compare::Comparison& comparison) {
  std::uint64_t records = 0;
  for (const auto& rank : comparison.ranks) {
    records += rank.records_compared;
    CHECK(rank.findings.size() <= rank.finding_count);
    CHECK((rank.verdict == compare::Verdict::divergent) == !rank.findings.empty());
    CHECK(rank.records_differing <= rank.records_compared);
    std::int64_t last = INT64_MIN;
    for (const auto& finding : rank.findings) {
      CHECK((finding.a || finding.b));
      CHECK(finding.record().site.iteration.value_or(INT64_MIN) >= last);
      last = finding.record().site.iteration.value_or(last);
    }
  }
  CHECK(records == comparison.records_compared);
  CHECK((comparison.verdict == compare::Verdict::divergent) == comparison.lead.has_value());
  CHECK((comparison.verdict == compare::Verdict::inconclusive) == !comparison.inconclusive_because.empty());
  if (!comparison.lead) return;
  for (const auto& rank : comparison.ranks) {
    if (rank.findings.empty()) continue;
    CHECK(comparison.first()->record().site.iteration.value_or(INT64_MIN) <=
          rank.findings.front().record().site.iteration.value_or(INT64_MIN));
  }
}

/// Compares both ways round, checks the invariants of each and that they mirror; returns A with B.
inline compare::Comparison compare_both_ways(const Run& a, const Run& b,
                                             const compare::Options& options = {}) {
  using compare::Kind;
  auto there = compare::compare_runs(a, b, options);
  compare::Options mirrored = options;
  if (options.iteration_offset) mirrored.iteration_offset = -*options.iteration_offset;
  auto back = compare::compare_runs(b, a, mirrored);
  REQUIRE(there);
  REQUIRE(back);
  check_comparison(*there);
  check_comparison(*back);
  CHECK(there->verdict == back->verdict);
  CHECK(there->records_compared == back->records_compared);
  CHECK(there->weakest == back->weakest);
  CHECK(there->offset == -back->offset);
  if (there->lead && back->lead) {
    const auto& x = *there->first();
    const auto& y = *back->first();
    const Kind expected = x.kind == Kind::missing_in_a   ? Kind::missing_in_b
                          : x.kind == Kind::missing_in_b ? Kind::missing_in_a
                                                         : x.kind;
    CHECK(y.kind == expected);
    CHECK(x.cls == y.cls);
    CHECK(x.record().site.name == y.record().site.name);
  }
  return std::move(*there);
}

}  // namespace detdiff::test
