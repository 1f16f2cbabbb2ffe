#include "report/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/table.hpp"

namespace detdiff::report {
namespace {

void add_part(std::string& out, const std::string& part) {
  if (part.empty()) return;
  if (!out.empty()) out += ", ";
  out += part;
}

std::string numbered(std::string_view label, const Json& site, std::string_view key) {
  const auto value = integer_of(site, key);
  return value ? fmt::format("{} {}", label, *value) : std::string();
}

std::string kinds_text(const Json& evidence) {
  std::vector<std::string> kinds;
  for (const auto& kind : list_of(evidence, "weakest_kinds")) kinds.push_back(text_of(kind));
  return joined(kinds);
}

bool follows(std::int64_t before, std::int64_t after) {
  return after > before && after - 1 == before;
}

std::string in_parentheses(const std::string& text) {
  return text.empty() ? std::string() : " (" + text + ")";
}

std::string digits_text(const Json& evidence) {
  const std::uint64_t digits = count_in(evidence, "printed_digits");
  return digits == 0 ? "printed digits" : fmt::format("{} printed digits", digits);
}

std::string samples_text(const Json& evidence) {
  const std::uint64_t samples = count_in(evidence, "samples");
  return samples == 0 ? "samples" : fmt::format("{} a tensor", count_of(samples, "sample"));
}

std::string ranks_text(const Json& document) {
  const RankCount ranks = rank_count(document);
  if (!ranks.named) return {};
  return fmt::format("{} of {}", number(count_in(field(document, "coverage"), "ranks_compared")),
                     count_of(ranks.total, "rank"));
}

std::string iterations_text(const Json& iterations) {
  const std::uint64_t compared = count_in(iterations, "compared");
  const std::uint64_t recorded = std::max(count_in(iterations, "recorded"), compared);
  if (recorded == 0) return {};
  std::string out = fmt::format("{} of {}", number(compared), count_of(recorded, "iteration"));
  const auto first = integer_of(iterations, "first");
  const auto last = integer_of(iterations, "last");
  if (compared < recorded && first && last) out += in_parentheses(range_text(*first, *last));
  return out;
}

std::string records_text(const Json& document) {
  return count_of(count_in(field(document, "coverage"), "records_compared"), "record");
}

std::string same_line(const Json& document) {
  const Json& evidence = field(document, "evidence");
  const std::string kinds = in_parentheses(kinds_text(evidence));
  const std::string coverage = coverage_text(document);
  const auto weaker = [&coverage](const std::string& how) {
    return fmt::format("SAME {}  {} match", how, coverage);
  };
  if (is(evidence, "weakest", "strong")) {
    return fmt::format("SAME  {} match bit for bit{}", coverage, kinds);
  }
  if (is(evidence, "weakest", "checksum")) return weaker("in 32-bit checksums" + kinds);
  if (is(evidence, "weakest", "order_blind")) return weaker("in order-blind digests" + kinds);
  if (is(evidence, "weakest", "sampled")) return weaker("in " + samples_text(evidence) + kinds);
  if (is(evidence, "weakest", "statistics")) return weaker("in statistics");
  if (is(evidence, "weakest", "rounded")) return weaker("at " + digits_text(evidence));
  if (is(evidence, "weakest", "metadata")) return weaker("in dtype and shape only");
  return weaker("as far as compared");
}

struct ClassNoun {
  std::string_view name, one, many;
};
constexpr std::array k_class_nouns{
    ClassNoun{"origin", "origin", "origins"},
    ClassNoun{"receiver", "receiver", "receivers"},
    ClassNoun{"restore", "restore defect", "restore defects"},
    ClassNoun{"control_flow", "control flow", "control flow"},
    ClassNoun{"undecidable", "undecidable", "undecidable"},
    ClassNoun{"uncertain", "uncertain", "uncertain"},
    ClassNoun{"view", "at a view", "at views"},
    ClassNoun{"artifact", "artifact", "artifacts"},
};

std::string kind_text(const Json& document) {
  if (is(document, "kind", "missing_in_a")) return "missing in A";
  if (is(document, "kind", "missing_in_b")) return "missing in B";
  if (is(document, "kind", "dtype")) return "dtype differs";
  if (is(document, "kind", "shape")) return "shape differs";
  if (is(document, "kind", "order")) return "order differs";
  if (is(document, "kind", "kernel")) return "kernel differs";
  return {};
}

std::string divergent_line(const Json& document) {
  std::string remarks = kind_text(document);
  const Json& classes = field(field(document, "counts"), "first_by_class");
  for (const auto& noun : k_class_nouns) {
    const std::uint64_t count = count_in(classes, noun.name);
    if (count == 0) continue;
    add_part(remarks, fmt::format("{} {}", number(count), count == 1 ? noun.one : noun.many));
  }
  const std::string pattern = text_of(document, "metric_pattern");
  if (!pattern.empty()) {
    add_part(remarks, "metrics point to the " + pattern + (pattern == "optimizer" ? "" : " pass"));
  }
  std::string out = "DIVERGENT  first at " + place(field(document, "first"));
  if (!remarks.empty()) out += "  (" + remarks + ")";
  return out;
}

std::string inconclusive_line(const Json& document) {
  const Json& reasons = list_of(document, "inconclusive_because");
  const std::string first = text_of(element(reasons, 0));
  std::string out =
      "INCONCLUSIVE  " + (first.empty() ? "nothing, or too little, could be compared" : first);
  if (reasons.size() > 1) {
    out += fmt::format("  (and {})", count_of(reasons.size() - 1, "more reason"));
  }
  return out;
}

}  // namespace

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) out += i + 1 == parts.size() ? " and " : ", ";
    out += parts[i];
  }
  return out;
}

std::string short_place(const Json& site) {
  std::string out;
  for (const std::string_view level : {"module", "operation", "kernel", "tensor"}) {
    add_part(out, text_of(site, level));
  }
  if (out.empty()) out = text_of(site, "name");
  const std::uint64_t occurrence = count_in(site, "occurrence");
  if (occurrence != 0) add_part(out, fmt::format("occurrence {}", occurrence));
  return out;
}

std::string place(const Json& site) {
  std::string out = numbered("iteration", site, "iteration");
  add_part(out, numbered("rank", site, "rank"));
  add_part(out, numbered("microbatch", site, "microbatch"));
  add_part(out, text_of(site, "phase"));
  add_part(out, short_place(site));
  return out.empty() ? "a record without a name" : out;
}

std::string range_text(std::int64_t first, std::int64_t last) {
  if (first == last) return fmt::format("{}", first);
  return fmt::format("{}{}{}", first, first < 0 || last < 0 ? " to " : "-", last);
}

std::string ranges_text(const std::vector<std::int64_t>& numbers) {
  std::string out;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    while (end < numbers.size() && follows(numbers[end - 1], numbers[end])) ++end;
    add_part(out, range_text(numbers[begin], numbers[end - 1]));
    begin = end;
  }
  return out;
}

std::string layout_text(const Json& fingerprint) {
  std::string out = text_of(fingerprint, "dtype");
  const Json& shape = field(fingerprint, "shape");
  if (!shape.is_array()) return out;
  std::string extents;
  for (const auto& extent : shape) {
    if (extent.is_number_integer())
      add_part(extents, fmt::format("{}", extent.get<std::int64_t>()));
  }
  return out + "[" + extents + "]";
}

std::string position_text(const Json& record) {
  const std::string file = text_of(record, "file");
  if (file.empty()) return {};
  const std::uint64_t line = count_in(record, "line");
  if (line != 0) return fmt::format("{}:{}", file, line);
  const std::uint64_t byte = count_in(record, "byte");
  return byte == 0 ? file : fmt::format("{}@{}", file, byte);
}

std::string evidence_text(const Json& evidence) {
  const std::string kinds = kinds_text(evidence);
  std::string out;
  if (is(evidence, "weakest", "strong")) out = kinds.empty() ? "exact values" : "full " + kinds;
  if (is(evidence, "weakest", "checksum")) out = "32-bit checksums" + in_parentheses(kinds);
  if (is(evidence, "weakest", "order_blind")) out = "order-blind digests" + in_parentheses(kinds);
  if (is(evidence, "weakest", "sampled")) out = samples_text(evidence) + in_parentheses(kinds);
  if (is(evidence, "weakest", "statistics")) out = "statistics";
  if (is(evidence, "weakest", "rounded")) out = digits_text(evidence);
  if (is(evidence, "weakest", "metadata")) out = "dtype and shape only, no values";
  if (out.empty()) return "nothing was compared";
  return field(evidence, "strengths").size() > 1 ? "weakest: " + out : out;
}

RankCount rank_count(const Json& document) {
  RankCount count;
  for (const auto& rank : list_of(document, "ranks")) {
    ++count.total;
    if (flag_of(rank, "in_a") && flag_of(rank, "in_b")) ++count.compared;
    if (integer_of(rank, "rank")) count.named = true;
  }
  if (count.total > 1) count.named = true;
  return count;
}

std::string coverage_text(const Json& document) {
  const Json& iterations = field(field(document, "coverage"), "iterations");
  const std::uint64_t compared = count_in(iterations, "compared");
  const bool whole = compared >= count_in(iterations, "recorded");
  std::string out =
      whole && compared != 0 ? count_of(compared, "iteration") : iterations_text(iterations);
  add_part(out, ranks_text(document));
  add_part(out, records_text(document));
  return out;
}

std::string full_coverage_text(const Json& document) {
  std::string out = ranks_text(document);
  add_part(out, iterations_text(field(field(document, "coverage"), "iterations")));
  add_part(out, records_text(document));
  return out;
}

std::string verdict_line(const Json& document) {
  if (is(document, "verdict", "same")) return same_line(document);
  if (is(document, "verdict", "divergent")) return divergent_line(document);
  return inconclusive_line(document);
}

}  // namespace detdiff::report
