#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/line_parser.hpp"

namespace detdiff::formats {

/// The unsigned number that a span of role iteration or sequence holds, or what a digest or number
/// span ends at: one step of reading a line along its spans.
struct SpanText {
  std::size_t end = 0;       ///< one past the span; its begin if the text is not of the role
  std::uint64_t number = 0;  ///< of iteration and sequence
};

/// Reads the text at `begin` as a span of `role`; `length` counts for digests. Accepts less than the
/// parsers do (no numbers of over 18 digits, no exponents of over two), never more.
SpanText read_span(std::string_view line, std::size_t begin, Span::Role role, std::size_t length);

/// What is needed to recognise a line like one that was parsed, and to count it, in a few dozen bytes:
/// the hash of its literal text, the places of its spans, and no record.
class LineOutline {
 public:
  static constexpr std::size_t max_spans = 8;

  /// Absent if the line has too many spans.
  static std::optional<LineOutline> make(std::string_view line, const std::vector<Span>& spans);

  /// What the spans of a matching line say.
  struct Numbers {
    std::optional<std::int64_t> iteration;
    std::uint64_t sequence = 0;
  };
  /// Absent if `line` differs in more than what its spans allow. A hash stands for the literal text,
  /// so one line in 2^64 could be taken for another; nothing but counts rests on it.
  [[nodiscard]] std::optional<Numbers> match(std::string_view line) const;

 private:
  struct Gap {
    std::uint16_t literal;  ///< bytes before the span
    std::uint16_t length;   ///< of the span, for digests
  };
  std::uint64_t m_hash = 0;
  std::uint32_t m_rest = 0;  ///< bytes behind the last span
  std::uint8_t m_count = 0;
  std::array<Span::Role, max_spans> m_roles{};
  std::array<Gap, max_spans> m_gaps{};
};

}  // namespace detdiff::formats
