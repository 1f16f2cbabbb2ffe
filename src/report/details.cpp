#include <fmt/format.h>

#include <algorithm>

#include "report/sections.hpp"
#include "report/table.hpp"
#include "report/wording.hpp"

namespace detdiff::report {
namespace {

void add_tally(Page& page, const Json& evidence, std::string_view key, std::string_view label) {
  const Json& tallies = field(evidence, key);
  if (!tallies.is_object() || tallies.empty()) return;
  std::string out;
  for (const auto& [name, count] : tallies.items()) {
    if (!count.is_number_unsigned()) continue;
    if (!out.empty()) out += ", ";
    out += text_of(Json(name)) + " " + number(count.get<std::uint64_t>());
  }
  page.item(label, out);
}

std::string rank_text(const Json& rank) {
  const auto value = integer_of(rank, "rank");
  return value ? fmt::format("{}", *value) : "-";
}

void add_later(Page& page, const Json& document) {
  const std::size_t limit = page.options().max_rows;
  Table table({{"rank", Table::Align::right}, {"kind"}, {"class"}, {"", Table::Align::left, true}});
  std::size_t total = 0;
  for (const auto& rank : list_of(document, "ranks")) {
    const Json& findings = list_of(rank, "findings");
    const std::size_t all = std::max<std::size_t>(count_in(rank, "finding_count"), findings.size());
    total += all == 0 ? 0 : all - 1;
    for (std::size_t i = 1; i < findings.size(); ++i) {
      if (limit != 0 && table.row_count() >= limit) break;
      Json site = field(findings[i], "site");
      if (site.is_object()) site["rank"] = nullptr;
      table.add({rank_text(rank), text_of(findings[i], "kind"), text_of(findings[i], "class"),
                 place(site)});
    }
  }
  if (table.row_count() == 0) return;
  page.gap();
  page.item("later", "further divergences, in the order of each rank");
  page.rows(table.lines(page.table_width()));
  if (total <= table.row_count()) return;
  page.rows(
      {fmt::format("... {} not shown", count_of(total - table.row_count(), "more divergence"))});
}

std::string span_text(const Json& side) {
  const Json& span = field(side, "iterations");
  const auto first = integer_of(span, "first");
  const auto last = integer_of(span, "last");
  if (!first || !last) return {};
  std::string out = range_text(*first, *last);
  const std::size_t segments = list_of(side, "segments").size();
  if (segments > 1) out += fmt::format(" in {} segments", number(segments));
  return out;
}

void add_files(Page& page, const Json& document) {
  const Json& ranks = list_of(document, "ranks");
  const std::size_t limit = page.options().max_rows;
  Table table({{"run"},
               {"rank", Table::Align::right},
               {"records", Table::Align::right},
               {"iterations"},
               {"file", Table::Align::left, true},
               {"end", Table::Align::left, true}});
  std::size_t total = 0;
  for (const auto& rank : ranks) {
    for (const std::string_view side : {"a", "b"}) {
      const Json& summary = field(rank, side);
      if (!summary.is_object()) continue;
      ++total;
      if (limit != 0 && table.row_count() >= limit) continue;
      std::string end = text_of(field(summary, "damage"), "text");
      if (end.empty() && flag_of(summary, "ends_inside_iteration")) end = "inside an iteration";
      table.add({side == "a" ? "A" : "B", rank_text(rank), number(count_in(summary, "records")),
                 span_text(summary), text_of(summary, "file"), end});
    }
  }
  if (total == 0) return;
  page.gap();
  page.item("files", "");
  page.rows(table.lines(page.table_width()));
  add_more(page, table.row_count(), total, "more file");
}

}  // namespace

void add_details(Page& page, const Json& document) {
  const Json& evidence = field(document, "evidence");
  page.gap();
  add_tally(page, evidence, "strengths", "by strength");
  add_tally(page, evidence, "kinds", "by digest");
  const std::string required = text_of(evidence, "required");
  if (!required.empty()) page.item("required", required);
  add_later(page, document);
  add_files(page, document);
}

}  // namespace detdiff::report
