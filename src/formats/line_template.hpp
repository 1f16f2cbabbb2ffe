#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/line_parser.hpp"

namespace detdiff::formats {

/// A parsed line that reads its own likes: the same text with other numbers and digests in the
/// spans. What it accepts, the parser that made it would accept too, with the same meaning.
class LineTemplate {
 public:
  /// Takes the record and the spans of `parsed`, which must be those of `line`.
  LineTemplate(std::string_view line, ParsedLine& parsed);

  /// True if `line` differs from the template in its spans only, and each span holds what its role
  /// allows. Fills `iteration` and `sequence`; the record is untouched until apply().
  bool match(std::string_view line);

  /// Puts the spans of the line that matched last into the record. `line` must be the same text.
  void apply(std::string_view line);

  [[nodiscard]] Record& record() { return m_record; }
  /// The iteration of the line that matched last, absent if the record has none.
  [[nodiscard]] std::optional<std::int64_t> iteration() const {
    return m_record.site.iteration ? std::optional(m_iteration) : std::nullopt;
  }
  [[nodiscard]] std::uint64_t sequence() const { return m_sequence; }
  [[nodiscard]] bool occurrence_given() const { return m_occurrence_given; }
  /// Rough size in memory, in bytes.
  [[nodiscard]] std::size_t footprint() const;

 private:
  struct Found {
    std::uint32_t begin, end;
  };

  std::string m_text;
  std::vector<Span> m_spans;
  std::vector<Found> m_found;
  Record m_record;
  std::int64_t m_iteration = 0;
  std::uint64_t m_sequence = 0;
  bool m_occurrence_given;
};

}  // namespace detdiff::formats
