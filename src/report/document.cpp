#include "report/document.hpp"

#include <algorithm>
#include <map>

#include "report/record_json.hpp"
#include "report/utf8.hpp"

namespace detdiff::report {
namespace {

using compare::Comparison;
using compare::Finding;
using compare::RankResult;
using compare::Verdict;

constexpr std::size_t k_findings_in_report = 4096;

int exit_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return 0;
    case Verdict::divergent:
      return 1;
    case Verdict::inconclusive:
      return 3;
  }
  return 3;
}

template <class T>
Json name_or_null(const std::optional<T>& value) {
  return value ? Json(to_string(*value)) : Json(nullptr);
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json texts(const std::vector<std::string>& list) {
  Json out = Json::array();
  for (const auto& text : list) out.push_back(to_utf8(text));
  return out;
}

Json inputs_json(const Context& context) {
  Json out = Json::array();
  for (const auto& input : context.inputs) {
    Json one;
    one["path"] = to_utf8(input.path);
    one["format"] = to_utf8(input.format);
    one["title"] = to_utf8(input.title);
    one["run_id"] = text_or_null(input.run_id);
    one["bytes"] = input.bytes;
    one["ranks"] = input.ranks;
    one["metrics_only"] = input.metrics_only;
    out.push_back(std::move(one));
  }
  return out;
}

Json side_json(const compare::SideSummary& side, const std::string& file) {
  Json out;
  out["file"] = text_or_null(file);
  out["records"] = side.records;
  out["iterations"] = span_json(side.iterations);
  out["segments"] = Json::array();
  for (const auto& segment : side.segments) out["segments"].push_back(span_json(segment));
  out["repeated"] = side.repeated;
  out["ends_inside_iteration"] = side.ends_inside_iteration;
  out["damage"] = nullptr;
  if (side.damage) {
    Json damage;
    damage["text"] = to_utf8(side.damage->text);
    const Position& position = side.damage->position;
    damage["line"] = position.line == 0 ? Json(nullptr) : Json(position.line);
    damage["byte"] = position.byte;
    out["damage"] = std::move(damage);
  }
  return out;
}

Json rank_json(const Comparison& comparison, const RankResult& rank, std::size_t kept) {
  const Finding* first = rank.findings.empty() ? nullptr : &rank.findings.front();
  Json out;
  out["rank"] = or_null(rank.rank);
  out["verdict"] = to_string(rank.verdict);
  out["first"] = first != nullptr ? site_json(first->record().site) : Json(nullptr);
  out["kind"] = first != nullptr ? Json(to_string(first->kind)) : Json(nullptr);
  out["class"] = first != nullptr ? name_or_null(reported_class(*first)) : Json(nullptr);
  out["restore"] = first != nullptr ? name_or_null(first->restore) : Json(nullptr);
  out["last_match"] = rank.last_match ? site_json(rank.last_match->site) : Json(nullptr);
  out["records_compared"] = rank.records_compared;
  out["records_differing"] = rank.records_differing;
  out["records_missing_in_a"] = rank.records_missing_a;
  out["records_missing_in_b"] = rank.records_missing_b;
  out["records_left_out"] = rank.records_left_out;
  out["tensors_before"] = rank.tensors_before;
  out["iterations"] = span_json(rank.compared);
  out["iterations_equal"] = rank.iterations_equal;
  out["first_common"] = or_null(rank.first_common);
  out["in_a"] = rank.in_a;
  out["in_b"] = rank.in_b;
  out["a"] = rank.in_a ? side_json(rank.a, rank.file_a) : Json(nullptr);
  out["b"] = rank.in_b ? side_json(rank.b, rank.file_b) : Json(nullptr);
  out["evidence"] = evidence_json(rank.evidence, rank.evidence.weakest());
  out["finding_count"] = std::max<std::uint64_t>(rank.finding_count, rank.findings.size());
  out["findings"] = Json::array();
  for (std::size_t i = 0; i < std::min(kept, rank.findings.size()); ++i) {
    out["findings"].push_back(finding_json(comparison, rank, rank.findings[i]));
  }
  return out;
}

Json ranks_json(const Comparison& comparison) {
  const std::size_t ranks = std::max<std::size_t>(comparison.ranks.size(), 1);
  const std::size_t kept = std::max<std::size_t>(k_findings_in_report / ranks, 1);
  Json out = Json::array();
  for (const auto& rank : comparison.ranks) out.push_back(rank_json(comparison, rank, kept));
  return out;
}

Json counts_json(const Comparison& comparison) {
  std::map<std::string, std::uint64_t> verdicts;
  std::map<std::string, std::uint64_t> classes;
  std::uint64_t findings = 0;
  for (const auto& rank : comparison.ranks) {
    ++verdicts[std::string(to_string(rank.verdict))];
    findings += std::max<std::uint64_t>(rank.finding_count, rank.findings.size());
    if (rank.findings.empty()) continue;
    const auto cls = reported_class(rank.findings.front());
    if (cls) ++classes[std::string(to_string(*cls))];
  }
  Json out;
  out["ranks"] = verdicts;
  out["first_by_class"] = classes;
  out["findings"] = findings;
  return out;
}

std::uint64_t iterations_total(const Comparison& comparison) {
  std::uint64_t total = comparison.compared ? comparison.compared->count : 0;
  for (const auto& rank : comparison.ranks) {
    for (const auto* side : {&rank.a, &rank.b}) {
      if (side->iterations) total = std::max(total, side->iterations->count);
    }
  }
  return total;
}

Json coverage_json(const Comparison& comparison) {
  Json iterations;
  const auto& span = comparison.compared;
  iterations["first"] = span ? Json(span->first) : Json(nullptr);
  iterations["last"] = span ? Json(span->last) : Json(nullptr);
  iterations["compared"] = span ? span->count : 0;
  iterations["recorded"] = iterations_total(comparison);
  Json out;
  out["ranks_a"] = comparison.ranks_a;
  out["ranks_b"] = comparison.ranks_b;
  out["ranks_compared"] = comparison.ranks_compared;
  out["iterations"] = std::move(iterations);
  out["records_compared"] = comparison.records_compared;
  out["left_out"] = comparison.left_out;
  return out;
}

// The names of what the weakest evidence is made of: digest kinds, or scalars.
Json weakest_kinds(const EvidenceCounts& counts, Evidence weakest) {
  Json out = Json::array();
  std::uint64_t digests = 0;
  for (std::size_t i = 0; i < counts.by_kind.size(); ++i) {
    const DigestKindInfo& kind = digest_kinds()[i];
    const bool fits = kind.strength == weakest || weakest == Evidence::sampled;
    if (counts.by_kind[i] == 0 || !fits) continue;
    digests += counts.by_kind[i];
    out.push_back(kind.name);
  }
  const std::uint64_t exact = counts.by_strength[static_cast<std::size_t>(Evidence::strong)];
  if (weakest == Evidence::strong && exact > digests) out.push_back("exact values");
  return out;
}

Json blind_json(const EvidenceCounts& counts, Evidence weakest) {
  Json out = Json::array();
  const auto add = [&out](std::string_view kind, std::string_view text) {
    if (text.empty()) return;
    Json one;
    one["kind"] = kind;
    one["text"] = text;
    out.push_back(std::move(one));
  };
  add(to_string(weakest), blind_spot(weakest));
  for (std::size_t i = 0; i < counts.by_kind.size(); ++i) {
    if (counts.by_kind[i] != 0) add(digest_kinds()[i].name, digest_kinds()[i].blind);
  }
  return out;
}

Json notices_json(const Comparison& comparison) {
  Json out = Json::array();
  for (const auto& notice : comparison.notices) {
    Json one;
    one["code"] = to_utf8(notice.code);
    one["text"] = to_utf8(notice.text);
    out.push_back(std::move(one));
  }
  return out;
}

Json verdict_evidence(const Comparison& comparison) {
  Json out = evidence_json(comparison.evidence, comparison.weakest);
  out["required"] = to_string(comparison.required);
  const int digits = comparison.evidence.printed_digits;
  out["printed_digits"] = digits == 0 ? Json(nullptr) : Json(digits);
  out["samples"] = nullptr;
  out["weakest_kinds"] = weakest_kinds(comparison.evidence, comparison.weakest);
  out["blind"] = blind_json(comparison.evidence, comparison.weakest);
  return out;
}

void add_lead(Json& out, const Comparison& comparison) {
  const Finding* first = comparison.first();
  out["first"] = nullptr;
  out["kind"] = nullptr;
  out["class"] = nullptr;
  out["restore"] = nullptr;
  out["metric_pattern"] = name_or_null(comparison.metric_pattern);
  out["meaning"] = nullptr;
  out["first_record"] = nullptr;
  out["lead"] = or_null(comparison.lead);
  if (first == nullptr) return;
  const auto cls = reported_class(*first);
  out["first"] = site_json(first->record().site);
  out["kind"] = to_string(first->kind);
  out["class"] = name_or_null(cls);
  out["restore"] = name_or_null(first->restore);
  out["meaning"] = meaning_of(diagnosis_of(comparison, *first));
  out["first_record"] = finding_json(comparison, comparison.ranks[*comparison.lead], *first);
}

}  // namespace

Json build_document(const Comparison& comparison, const Context& context) {
  Json out;
  out["schema_version"] = k_schema_version;
  out["tool"]["name"] = "detdiff";
  out["tool"]["version"] = to_utf8(context.version);
  out["argv"] = texts(context.argv);
  out["inputs"] = inputs_json(context);
  out["filters"] = texts(context.filters);
  out["verdict"] = to_string(comparison.verdict);
  out["exit"] = exit_of(comparison.verdict);
  add_lead(out, comparison);
  out["inconclusive_because"] = texts(comparison.inconclusive_because);
  out["counts"] = counts_json(comparison);
  out["coverage"] = coverage_json(comparison);
  out["evidence"] = verdict_evidence(comparison);
  out["offset"] = comparison.offset;
  out["offset_found"] = comparison.offset_found;
  out["resumed"] = comparison.resumed ? Json(std::string(1, *comparison.resumed)) : Json(nullptr);
  out["metrics_only"] = comparison.metrics_only;
  out["notices"] = notices_json(comparison);
  out["next"] = next_steps(comparison, context);
  out["ranks"] = ranks_json(comparison);
  return out;
}

}  // namespace detdiff::report
