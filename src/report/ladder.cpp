#include <fmt/format.h>

#include <array>

#include "report/sections.hpp"
#include "report/table.hpp"
#include "report/wording.hpp"

namespace detdiff::report {
namespace {

struct Lead {
  const Json& rank;     ///< the leading rank's entry
  const Json& finding;  ///< its first finding
  const Json& site;
};

const Json& lead_rank(const Json& document) {
  const auto index = integer_of(document, "lead");
  static const Json none = nullptr;
  return index && *index >= 0 ? element(field(document, "ranks"), static_cast<std::size_t>(*index))
                              : none;
}

bool both_have(const Json& rank) { return flag_of(rank, "in_a") && flag_of(rank, "in_b"); }

std::string on_ranks(std::size_t matching, const RankCount& ranks) {
  if (!ranks.named) return {};
  return fmt::format(" on {} of {}", number(matching), count_of(ranks.compared, "rank"));
}

std::string iteration_remark(const Json& document, const Lead& lead) {
  const auto iteration = integer_of(lead.site, "iteration");
  const Json& compared = field(lead.rank, "iterations");
  const auto first = integer_of(compared, "first");
  const auto last = integer_of(compared, "last");
  if (!iteration || !first || !last) return {};
  if (*first >= *iteration) return "the first iteration that both runs recorded";

  std::size_t matching = 0;
  std::uint64_t tensors = 0;
  bool all_end_here = true;
  for (const auto& rank : list_of(document, "ranks")) {
    const auto begins = integer_of(field(rank, "iterations"), "first");
    if (!both_have(rank) || !begins || *begins >= *iteration) continue;
    const auto differs = integer_of(field(rank, "first"), "iteration");
    if (differs && *differs < *iteration) continue;
    ++matching;
    tensors += count_in(rank, "tensors_before");
    if (differs != iteration) all_end_here = false;
  }
  const std::uint64_t width =
      static_cast<std::uint64_t>(*last) - static_cast<std::uint64_t>(*first);
  const bool gapless = count_in(compared, "count") == width + 1;
  std::string out = gapless ? range_text(*first, *iteration - 1) + " match"
                            : fmt::format("those before it, from {} on, match", *first);
  const RankCount ranks = rank_count(document);
  out += on_ranks(matching, ranks);
  if (!all_end_here) tensors = count_in(lead.rank, "tensors_before");
  if (tensors == 0) return out;
  out += ", " + count_of(tensors, "tensor");
  const auto number_of_lead = integer_of(lead.rank, "rank");
  if (!all_end_here && number_of_lead) out += fmt::format(" on rank {}", *number_of_lead);
  return out;
}

bool holds_phase(const Json& finding, const std::string& phase) {
  for (const auto& before : list_of(finding, "phases_before")) {
    if (text_of(before) == phase) return true;
  }
  return false;
}

std::string phase_remark(const Json& document, const Lead& lead) {
  const Json& phases = list_of(lead.finding, "phases_before");
  const auto iteration = integer_of(lead.site, "iteration");
  if (phases.empty()) return {};
  std::vector<std::string> names;
  for (const auto& phase : phases) names.push_back(text_of(phase));
  std::size_t matching = 0;
  for (const auto& rank : list_of(document, "ranks")) {
    if (!both_have(rank)) continue;
    const auto differs = integer_of(field(rank, "first"), "iteration");
    const bool later =
        field(rank, "first").is_null() || (differs && iteration && *differs > *iteration);
    bool whole = true;
    for (const auto& name : names) {
      whole = whole && holds_phase(element(field(rank, "findings"), 0), name);
    }
    if (later || whole) ++matching;
  }
  return fmt::format("{} of this iteration {}{}", joined(names),
                     names.size() == 1 ? "matches" : "match",
                     on_ranks(matching, rank_count(document)));
}

std::string module_remark(const Lead& lead) {
  const std::uint64_t matched = count_in(lead.finding, "matched_in_iteration");
  if (matched == 0) return {};
  return fmt::format("{} before it in this iteration {}", count_of(matched, "tensor"),
                     matched == 1 ? "matches" : "match");
}

std::string input_remark(const Lead& lead) {
  const Json& record = field(lead.finding, field(lead.finding, "a").is_object() ? "a" : "b");
  if (!is(record, "kind", "call")) return {};
  const Json& inputs = field(record, "inputs");
  if (!inputs.is_array()) return "its inputs were not recorded";
  if (inputs.empty()) return "it has no recorded inputs";
  if (!is(lead.finding, "kind", "value")) return {};
  if (flag_of(lead.finding, "inputs_differ")) return "an input differs already";
  return inputs.size() == 1 ? "its input matches"
                            : fmt::format("its {} inputs match", number(inputs.size()));
}

const Json& differing_tensor(const Json& finding) {
  const Json& record = field(finding, field(finding, "a").is_object() ? "a" : "b");
  const Json& differs = field(finding, "differs");
  const bool input = is(differs, "what", "input");
  return element(field(record, input ? "inputs" : "outputs"), count_in(differs, "index"));
}

std::string tensor_label(const Lead& lead) {
  const Json& differs = field(lead.finding, "differs");
  const Json& tensor = differing_tensor(lead.finding);
  const std::string role = text_of(tensor, "tensor");
  const std::string named = text_of(lead.site, "tensor");
  if (is(differs, "what", "attribute")) return named;
  const std::string side = is(differs, "what", "input") ? "input" : "output";
  const Json& record = field(lead.finding, field(lead.finding, "a").is_object() ? "a" : "b");
  if (is(record, "kind", "call") && differs.is_object()) {
    return side + " " + (role.empty() ? number(count_in(differs, "index")) : role);
  }
  if (!named.empty() || !role.empty()) return named.empty() ? role : named;
  return tensor.is_object() && !is(record, "kind", "event") ? "(unnamed)" : std::string();
}

Page::Item level(std::string name, std::string value, std::string remark = {}) {
  if (value.empty()) value = "not recorded";
  return {std::move(name), std::move(value), std::move(remark)};
}

bool brackets_the_cause(const Json& finding) {
  for (const std::string_view cls : {"receiver", "restore", "artifact", "undecidable"}) {
    if (is(finding, "class", cls)) return false;
  }
  return true;
}

void add_last_match(Page& page, const Lead& lead) {
  const Json& last = field(lead.finding, "last_match");
  if (!last.is_object()) {
    page.item("last match", "none: this is the first record that was compared here");
    return;
  }
  const bool near = field(last, "iteration") == field(lead.site, "iteration") &&
                    field(last, "phase") == field(lead.site, "phase") &&
                    field(last, "microbatch") == field(lead.site, "microbatch");
  std::string text = near ? short_place(last) : place(last);
  if (brackets_the_cause(lead.finding)) text += "  (the cause lies between these two records)";
  page.item("last match", text);
}

bool name_is_new(const Json& site) {
  const std::string name = text_of(site, "name");
  const std::string module = text_of(site, "module");
  if (name.empty() || name == module + "." + text_of(site, "tensor")) return false;
  for (const std::string_view level : {"module", "operation", "kernel", "tensor"}) {
    if (name == text_of(site, level)) return false;
  }
  return true;
}

}  // namespace

void add_ladder(Page& page, const Json& document) {
  const Json& site = field(document, "first");
  if (!site.is_object()) return;
  const Lead lead{lead_rank(document), field(document, "first_record"), site};
  const auto number_text = [&site](std::string_view key) {
    const auto value = integer_of(site, key);
    return value ? fmt::format("{}", *value) : std::string();
  };
  page.gap();
  std::vector<Page::Item> items;
  items.push_back(level("iteration", number_text("iteration"), iteration_remark(document, lead)));
  if (integer_of(site, "microbatch"))
    items.push_back(level("microbatch", number_text("microbatch")));
  items.push_back(level("phase", text_of(site, "phase"), phase_remark(document, lead)));
  items.push_back(level("module", text_of(site, "module"), module_remark(lead)));
  items.push_back(level("operation", text_of(site, "operation"), input_remark(lead)));
  items.push_back(level("kernel", text_of(site, "kernel")));
  items.push_back(level("tensor", tensor_label(lead), layout_text(differing_tensor(lead.finding))));
  if (name_is_new(site)) items.push_back(level("name", text_of(site, "name")));
  page.items(items);
  add_sides(page, lead.finding);
  add_last_match(page, lead);
}

}  // namespace detdiff::report
