#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "report/sections.hpp"
#include "report/table.hpp"
#include "report/wording.hpp"

namespace detdiff::report {
namespace {

constexpr std::size_t k_ranges_shown = 60;

struct Row {
  std::size_t order;  ///< origins, other divergent ranks, then what could not be decided
  std::int64_t iteration;
  std::int64_t rank;
  std::vector<std::string> cells;
};

std::string class_text(const Json& rank) {
  const std::string cls = text_of(rank, "class");
  const std::string kind = text_of(rank, "kind");
  if (cls == "restore") {
    const std::string what = text_of(rank, "restore");
    return what.empty() ? cls : "restore of " + what;
  }
  if (cls == "control_flow") return kind == "order" ? "order" : "control flow";
  return cls.empty() ? kind : cls;
}

std::string absence_text(const Json& rank) {
  if (!flag_of(rank, "in_b")) return "recorded in A only";
  if (!flag_of(rank, "in_a")) return "recorded in B only";
  for (const std::string_view side : {"a", "b"}) {
    const Json& damage = field(field(rank, side), "damage");
    if (damage.is_object()) return (side == "a" ? "A: " : "B: ") + text_of(damage, "text");
  }
  return count_in(rank, "records_compared") == 0 ? "nothing could be compared" : "";
}

Row row_of(const Json& rank) {
  const Json& first = field(rank, "first");
  const auto number_of = integer_of(rank, "rank");
  Row row{2,
          integer_of(first, "iteration").value_or(std::numeric_limits<std::int64_t>::max()),
          number_of.value_or(-1),
          {}};
  row.cells.push_back(number_of ? fmt::format("{}", *number_of) : "-");
  if (first.is_object()) {
    row.order = is(rank, "class", "origin") ? 0 : 1;
    row.cells.push_back(class_text(rank));
    row.cells.push_back("first at " + [&first] {
      Json rankless = first;
      rankless["rank"] = nullptr;
      return place(rankless);
    }());
  } else {
    row.cells.push_back(text_of(rank, "verdict"));
    row.cells.push_back(absence_text(rank));
  }
  return row;
}

void add_equal(Page& page, std::vector<std::int64_t> numbers, std::size_t count, bool below) {
  if (count == 0) return;
  std::sort(numbers.begin(), numbers.end());
  std::string which = numbers.size() == count ? ranges_text(numbers) : std::string();
  if (which.size() > k_ranges_shown) which.clear();
  const std::string text =
      fmt::format("{} {} the same{}", count_of(count, below ? "more rank" : "rank"),
                  count == 1 ? "is" : "are", which.empty() ? "" : " (" + which + ")");
  if (below) {
    page.rows({text});
  } else {
    page.item("other ranks", text);
  }
}

}  // namespace

void add_more(Page& page, std::size_t shown, std::size_t total, std::string_view noun) {
  if (shown >= total) return;
  page.rows(
      {fmt::format("... {} not shown; --max-rows 0 shows all", count_of(total - shown, noun))});
}

void add_ranks(Page& page, const Json& document) {
  const Json& ranks = list_of(document, "ranks");
  const auto lead = is(document, "verdict", "divergent") ? integer_of(document, "lead")
                                                         : std::optional<std::int64_t>();
  std::vector<Row> rows;
  std::vector<std::int64_t> equal;
  std::size_t equal_count = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (lead && *lead >= 0 && static_cast<std::size_t>(*lead) == i) continue;
    const Json& rank = ranks[i];
    if (is(rank, "verdict", "same") && field(rank, "first").is_null()) {
      ++equal_count;
      if (const auto number_of = integer_of(rank, "rank")) equal.push_back(*number_of);
      continue;
    }
    rows.push_back(row_of(rank));
  }
  if (rows.empty() && (ranks.size() < 2 || is(document, "verdict", "same"))) return;
  page.gap();
  std::stable_sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) {
    if (x.order != y.order) return x.order < y.order;
    if (x.iteration != y.iteration) return x.iteration < y.iteration;
    return x.rank < y.rank;
  });
  const std::size_t limit = page.options().max_rows;
  const std::size_t shown = limit == 0 ? rows.size() : std::min(limit, rows.size());
  if (shown != 0) {
    page.item(lead ? "other ranks" : "ranks", "");
    Table table({{"rank", Table::Align::right}, {"result"}, {"", Table::Align::left, true}});
    for (std::size_t i = 0; i < shown; ++i) table.add(std::move(rows[i].cells));
    page.rows(table.lines(page.table_width()));
    add_more(page, shown, rows.size(), "more rank");
  }
  add_equal(page, std::move(equal), equal_count, !rows.empty());
}

}  // namespace detdiff::report
