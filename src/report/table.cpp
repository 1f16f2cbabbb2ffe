#include "report/table.hpp"

#include <algorithm>
#include <numeric>

#include "report/escape.hpp"

namespace detdiff::report {
namespace {

constexpr std::string_view k_gap = "  ";
constexpr std::size_t k_least_width = 12;

std::string pad(const std::string& text, std::size_t width, Table::Align align) {
  const std::size_t columns = display_width(text);
  const std::string spaces(width > columns ? width - columns : 0, ' ');
  return align == Table::Align::right ? spaces + text : text + spaces;
}

void trim_end(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::string number(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string count_of(std::uint64_t value, std::string_view noun) {
  return number(value) + " " + std::string(noun) + (value == 1 ? "" : "s");
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(m_columns.size());
  m_rows.push_back(std::move(cells));
}

std::vector<std::string> Table::lines(std::size_t width) const {
  std::vector<std::size_t> widths(m_columns.size(), 0);
  for (const auto& row : m_rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::size_t shown = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0) continue;
    widths[i] = std::max(widths[i], display_width(m_columns[i].title));
    ++shown;
  }
  const std::size_t gaps = shown == 0 ? 0 : (shown - 1) * k_gap.size();
  std::size_t total = std::accumulate(widths.begin(), widths.end(), gaps);
  while (width != 0 && total > width) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (!m_columns[i].elastic || widths[i] <= k_least_width) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == widths.size()) break;
    --widths[widest];
    --total;
  }
  const auto line = [&](auto&& cell_of) {
    std::string out;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == 0) continue;
      if (!out.empty()) out += k_gap;
      out += pad(elide(cell_of(i), widths[i]), widths[i], m_columns[i].align);
    }
    trim_end(out);
    return out;
  };
  std::vector<std::string> out;
  out.push_back(line([&](std::size_t i) { return m_columns[i].title; }));
  for (const auto& row : m_rows) {
    out.push_back(line([&](std::size_t i) { return row[i]; }));
  }
  return out;
}

}  // namespace detdiff::report
