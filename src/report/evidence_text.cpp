#include <fmt/format.h>

#include <algorithm>

#include "report/sections.hpp"
#include "report/table.hpp"
#include "report/wording.hpp"

namespace detdiff::report {
namespace {

void add_inputs(Page& page, const Json& document) {
  const Json& inputs = list_of(document, "inputs");
  std::vector<Page::Item> items;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Json& input = inputs[i];
    const std::string title = text_of(input, "title");
    std::string what = title.empty() ? text_of(input, "format") : title;
    const std::uint64_t ranks = count_in(input, "ranks");
    if (ranks > 1) what += ", " + count_of(ranks, "rank");
    what += ", " + count_of(count_in(input, "bytes"), "byte");
    const std::string label =
        i < 2 ? fmt::format("run {}", i == 0 ? 'A' : 'B') : fmt::format("run {}", i + 1);
    items.push_back({label, text_of(input, "path"), what});
  }
  page.items(items);
}

void add_fit(Page& page, const Json& document) {
  const auto offset = integer_of(document, "offset").value_or(0);
  if (offset != 0) {
    page.item("offset", fmt::format("iteration i of A is iteration i{:+} of B{}", offset,
                                    flag_of(document, "offset_found") ? ", found from agreement"
                                                                      : ", as given"));
  }
  const std::string resumed = text_of(document, "resumed");
  if (resumed == "a" || resumed == "b") {
    page.item("resumed", fmt::format("{} starts later: it is taken as the resumed run",
                                     resumed == "a" ? 'A' : 'B'));
  }
  for (const auto& filter : list_of(document, "filters")) page.item("left out", text_of(filter));
}

std::string blind_name(const Json& blind) {
  if (is(blind, "kind", "metadata")) return "dtype and shape alone";
  if (is(blind, "kind", "rounded")) return "printed digits";
  if (is(blind, "kind", "sampled")) return "samples";
  return text_of(blind, "kind");
}

std::string left_out_text(const Json& coverage, const Json& evidence) {
  std::string out = fmt::format("{} left out", number(count_in(coverage, "left_out")));
  const std::uint64_t ignored = count_in(evidence, "ignored");
  if (ignored != 0) out += fmt::format(", {} ignored", count_of(ignored, "tensor"));
  const std::uint64_t unlike = count_in(evidence, "not_comparable");
  if (unlike != 0) out += fmt::format(", {} not comparable", count_of(unlike, "tensor"));
  return out;
}

}  // namespace

void add_evidence(Page& page, const Json& document) {
  const Json& evidence = field(document, "evidence");
  page.gap();
  page.item("evidence", fmt::format("{}; {} compared, {}", evidence_text(evidence),
                                    full_coverage_text(document),
                                    left_out_text(field(document, "coverage"), evidence)));
  for (const auto& blind : list_of(evidence, "blind")) {
    page.item("", fmt::format("{} cannot see {}", blind_name(blind), text_of(blind, "text")));
  }
  add_inputs(page, document);
  add_fit(page, document);
}

void add_texts(Page& page, std::string_view label, const Json& list, std::string_view noun) {
  const std::size_t limit = page.options().max_rows;
  const std::size_t shown = limit == 0 ? list.size() : std::min(limit, list.size());
  for (std::size_t i = 0; i < shown; ++i) page.item(label, text_of(list[i]));
  add_more(page, shown, list.size(), noun);
}

void add_notices(Page& page, const Json& document) {
  const Json& notices = list_of(document, "notices");
  if (notices.empty()) return;
  page.gap();
  Json texts = Json::array();
  for (const auto& notice : notices) texts.push_back(field(notice, "text"));
  add_texts(page, "notice", texts, "more notice");
}

void add_next(Page& page, const Json& document) {
  const Json& steps = list_of(document, "next");
  if (steps.empty()) return;
  page.gap();
  const std::size_t shown = page.options().verbosity > 0 ? steps.size() : 1;
  for (std::size_t i = 0; i < shown; ++i) {
    page.item("next", text_of(steps[i], "text"));
    const std::string command = text_of(steps[i], "command");
    if (!command.empty()) page.item("", page.styled(command, "1"));
  }
}

}  // namespace detdiff::report
