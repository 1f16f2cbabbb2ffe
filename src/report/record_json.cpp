#include "report/record_json.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/utf8.hpp"

namespace detdiff::report {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string double_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{}", value);
}

Json tensor_list(const std::vector<Fingerprint>& tensors) {
  Json list = Json::array();
  for (const auto& tensor : tensors) list.push_back(fingerprint_json(tensor));
  return list;
}

Json differs_json(const compare::Finding& finding) {
  const RecordMatch& match = finding.match;
  if (match.outcome == RecordMatch::Outcome::equal) return nullptr;
  Json out;
  if (!match.attribute.empty()) {
    out["what"] = "attribute";
    out["attribute"] = to_utf8(match.attribute);
    return out;
  }
  out["what"] = match.tensor_is_input ? "input" : "output";
  out["index"] = match.tensor;
  return out;
}

RecordOrigin origin_a(const compare::RankResult& rank, const compare::Finding& finding) {
  return {rank.file_a, finding.a ? finding.a->site.iteration : std::nullopt};
}

RecordOrigin origin_b(const compare::Comparison& comparison, const compare::RankResult& rank,
                      const compare::Finding& finding) {
  RecordOrigin origin{rank.file_b, finding.record().site.iteration};
  if (origin.iteration) *origin.iteration += comparison.offset;
  return origin;
}

}  // namespace

Json text_or_null(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(to_utf8(text));
}

Json site_json(const Site& site) {
  Json out;
  out["rank"] = or_null(site.rank);
  out["iteration"] = or_null(site.iteration);
  out["microbatch"] = or_null(site.microbatch);
  out["phase"] = text_or_null(site.phase);
  out["module"] = text_or_null(site.module);
  out["operation"] = text_or_null(site.operation);
  out["kernel"] = text_or_null(site.kernel);
  out["tensor"] = text_or_null(site.tensor);
  out["occurrence"] = site.occurrence;
  out["name"] = text_or_null(site.name);
  return out;
}

Json fingerprint_json(const Fingerprint& fingerprint) {
  Json out;
  out["tensor"] = text_or_null(fingerprint.tensor);
  out["dtype"] = text_or_null(fingerprint.dtype);
  out["shape"] = fingerprint.has_shape ? Json(fingerprint.shape) : Json(nullptr);
  out["digests"] = Json::array();
  for (const auto& digest : fingerprint.digests) {
    Json one;
    one["kind"] = info(digest.kind).name;
    one["hex"] = digest.hex();
    one["sampled"] = digest.sampled;
    one["scope"] = digest.scope == 0 ? Json(nullptr) : Json(fmt::format("{:016x}", digest.scope));
    out["digests"].push_back(std::move(one));
  }
  out["statistics"] = Json::array();
  for (const auto& statistic : fingerprint.statistics) {
    Json one;
    one["name"] = to_utf8(statistic.name);
    one["value"] = double_text(statistic.value);
    out["statistics"].push_back(std::move(one));
  }
  out["value"] = fingerprint.value ? Json(to_utf8(*fingerprint.value)) : Json(nullptr);
  out["printed_digits"] =
      fingerprint.printed_digits == 0 ? Json(nullptr) : Json(fingerprint.printed_digits);
  out["flags"] = Json::array();
  if (fingerprint.view) out["flags"].push_back("view");
  if (fingerprint.in_place) out["flags"].push_back("in_place");
  if (fingerprint.uninitialised) out["flags"].push_back("uninitialised");
  if (fingerprint.asynchronous) out["flags"].push_back("asynchronous");
  return out;
}

Json record_json(const Record& record, const RecordOrigin& origin) {
  Json out;
  out["kind"] = to_string(record.kind);
  out["site"] = site_json(record.site);
  out["iteration"] = or_null(origin.iteration);
  out["file"] = text_or_null(origin.file);
  out["line"] = record.position.line == 0 ? Json(nullptr) : Json(record.position.line);
  out["byte"] = record.position.byte;
  out["sequence"] = record.sequence;
  out["group"] = text_or_null(record.group);
  out["recompute"] = record.recompute;
  out["inputs"] = record.inputs_recorded ? tensor_list(record.inputs) : Json(nullptr);
  out["outputs"] = tensor_list(record.outputs);
  out["attributes"] = Json::array();
  for (const auto& attribute : record.attributes) {
    Json one;
    one["name"] = to_utf8(attribute.name);
    one["value"] = to_utf8(attribute.value);
    out["attributes"].push_back(std::move(one));
  }
  return out;
}

std::optional<compare::Class> reported_class(const compare::Finding& finding) {
  if (!finding.classified) return std::nullopt;
  return finding.cls;
}

Diagnosis diagnosis_of(const compare::Comparison& comparison, const compare::Finding& finding) {
  return {finding.kind, reported_class(finding), finding.restore, comparison.metric_pattern,
          comparison.metrics_only};
}

Json finding_json(const compare::Comparison& comparison, const compare::RankResult& rank,
                  const compare::Finding& finding) {
  const auto cls = reported_class(finding);
  Json out;
  out["kind"] = to_string(finding.kind);
  out["class"] = cls ? Json(to_string(*cls)) : Json(nullptr);
  out["restore"] = finding.restore ? Json(to_string(*finding.restore)) : Json(nullptr);
  out["meaning"] = meaning_of(diagnosis_of(comparison, finding));
  out["reason"] = text_or_null(finding.reason);
  out["site"] = site_json(finding.record().site);
  out["a"] = finding.a ? record_json(*finding.a, origin_a(rank, finding)) : Json(nullptr);
  out["b"] =
      finding.b ? record_json(*finding.b, origin_b(comparison, rank, finding)) : Json(nullptr);
  out["last_match"] = finding.last_match ? site_json(finding.last_match->site) : Json(nullptr);
  out["differs"] = differs_json(finding);
  out["inputs_differ"] = finding.match.inputs_differ;
  out["outputs_differ"] = finding.match.outputs_differ;
  out["not_comparable"] = finding.match.not_comparable;
  out["phases_before"] = Json::array();
  for (const auto& phase : finding.phases_before) out["phases_before"].push_back(to_utf8(phase));
  out["matched_in_iteration"] = finding.matched_in_iteration;
  out["extra"] = finding.extra;
  return out;
}

Json span_json(const std::optional<compare::IterationSpan>& span) {
  if (!span) return nullptr;
  Json out;
  out["first"] = span->first;
  out["last"] = span->last;
  out["count"] = span->count;
  return out;
}

Json evidence_json(const EvidenceCounts& counts, Evidence weakest) {
  Json out;
  out["weakest"] = to_string(weakest);
  out["kinds"] = Json::object();
  for (std::size_t i = 0; i < counts.by_kind.size(); ++i) {
    if (counts.by_kind[i] == 0) continue;
    out["kinds"][std::string(digest_kinds()[i].name)] = counts.by_kind[i];
  }
  out["strengths"] = Json::object();
  for (std::size_t i = 0; i < counts.by_strength.size(); ++i) {
    if (counts.by_strength[i] == 0) continue;
    out["strengths"][std::string(to_string(static_cast<Evidence>(i)))] = counts.by_strength[i];
  }
  out["tensors"] = counts.tensors;
  out["ignored"] = counts.ignored;
  out["not_comparable"] = counts.not_comparable;
  return out;
}

}  // namespace detdiff::report
