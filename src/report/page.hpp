#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace detdiff::report {

/// The lines of a text report. Every line begins with a word of ours or, indented, with a label of
/// ours, so that no text of a log can begin one.
class Page {
 public:
  explicit Page(const TextOptions& options) : m_options(options) {}

  [[nodiscard]] const TextOptions& options() const { return m_options; }

  void line(std::string text) { m_lines.push_back(std::move(text)); }

  /// An empty line, unless the last one is empty already.
  void gap();

  /// "  label       text": one indented line; an empty label continues the item above and must then
  /// be text of ours.
  void item(std::string_view label, std::string_view text);

  /// One item with a remark in a column of its own.
  struct Item {
    std::string label, text, remark;
  };
  /// Items whose remarks line up, as far as the texts are not very long.
  void items(const std::vector<Item>& list);

  /// Lines of a table, indented below the item above.
  void rows(const std::vector<std::string>& lines);

  /// Columns that are left for a table.
  [[nodiscard]] std::size_t table_width() const;

  /// `text` in an ANSI style ("1;31"), plain where colour is off.
  [[nodiscard]] std::string styled(std::string_view text, std::string_view style) const;

  [[nodiscard]] std::size_t line_count() const { return m_lines.size(); }
  [[nodiscard]] std::string text() const;

 private:
  TextOptions m_options;
  std::vector<std::string> m_lines;
};

}  // namespace detdiff::report
