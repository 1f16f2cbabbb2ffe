#include "report/page.hpp"

#include <algorithm>

#include "report/escape.hpp"

namespace detdiff::report {
namespace {

constexpr std::size_t k_label_width = 12;
constexpr std::size_t k_text_width = 48;
constexpr std::size_t k_row_indent = 4;
constexpr std::size_t k_least_table = 40;

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t columns = display_width(text);
  return std::string(text) + std::string(width > columns ? width - columns : 0, ' ');
}

}  // namespace

void Page::gap() {
  if (!m_lines.empty() && !m_lines.back().empty()) m_lines.emplace_back();
}

void Page::item(std::string_view label, std::string_view text) {
  const std::string spaces = padded(label, k_label_width).substr(label.size());
  std::string out = "  " + styled(label, label.empty() ? "" : "2") + spaces;
  out += text;
  out.erase(out.find_last_not_of(' ') + 1);
  m_lines.push_back(std::move(out));
}

void Page::items(const std::vector<Item>& list) {
  std::size_t width = 0;
  for (const auto& one : list) {
    const std::size_t columns = display_width(one.text);
    if (!one.remark.empty() && columns <= k_text_width) width = std::max(width, columns);
  }
  for (const auto& one : list) {
    item(one.label, one.remark.empty() ? one.text : padded(one.text, width) + "  " + one.remark);
  }
}

void Page::rows(const std::vector<std::string>& lines) {
  for (const auto& one : lines) m_lines.push_back(std::string(k_row_indent, ' ') + one);
}

std::size_t Page::table_width() const {
  if (m_options.width == 0) return 0;
  return m_options.width > k_least_table + k_row_indent ? m_options.width - k_row_indent
                                                        : k_least_table;
}

std::string Page::styled(std::string_view text, std::string_view style) const {
  if (!m_options.color || style.empty()) return std::string(text);
  std::string out = "\x1b[";
  out += style;
  out += 'm';
  out += text;
  out += "\x1b[0m";
  return out;
}

std::string Page::text() const {
  std::string out;
  for (const auto& one : m_lines) {
    out += one;
    out += '\n';
  }
  return out;
}

}  // namespace detdiff::report
