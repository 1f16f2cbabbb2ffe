#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace detdiff::report {

/// "1234567" as "1,234,567", whatever the locale says.
std::string number(std::uint64_t value);

/// "1 record", "2 records": the number and `noun`, which takes an s unless the number is 1.
std::string count_of(std::uint64_t value, std::string_view noun);

/// Rows of text in aligned columns. Cells must be escaped already.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
    bool elastic = false;  ///< may be cut in its middle where the table is too wide
  };

  explicit Table(std::vector<Column> columns) : m_columns(std::move(columns)) {}

  /// Adds a row; missing cells are empty.
  void add(std::vector<std::string> cells);

  [[nodiscard]] std::size_t row_count() const { return m_rows.size(); }

  /// The title line and one line a row, without line ends and without spaces at their end. With a
  /// `width` other than 0, elastic cells shrink, widest first and not below 12 columns, until a
  /// line fits or nothing is left to shrink. Columns that are empty in every row are left out.
  [[nodiscard]] std::vector<std::string> lines(std::size_t width) const;

 private:
  std::vector<Column> m_columns;
  std::vector<std::vector<std::string>> m_rows;
};

}  // namespace detdiff::report
