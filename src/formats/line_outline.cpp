#include "formats/line_outline.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <limits>

namespace detdiff::formats {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Written without branches or tables, so that compilers turn it into vector code: it runs over 64
// digits of every line.
bool all_hex(const char* text, std::size_t size) {
  std::uint8_t bad = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto digit = static_cast<std::uint8_t>(text[i] - '0');
    const auto letter = static_cast<std::uint8_t>(text[i] - 'a');
    bad |= static_cast<std::uint8_t>((digit > 9) & (letter > 5));
  }
  return bad == 0;
}

// The end of a JSON number that begins at `at`, or `at` if there is none.
std::size_t number_end(std::string_view line, std::size_t at) {
  std::size_t i = at;
  const auto digits = [&] {
    const std::size_t first = i;
    while (i < line.size() && is_digit(line[i])) ++i;
    return i - first;
  };
  if (i < line.size() && line[i] == '-') ++i;
  const std::size_t first = i;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && line[first] == '0') || whole > 18) return at;
  if (i < line.size() && line[i] == '.') {
    ++i;
    if (digits() == 0) return at;
  }
  if (i < line.size() && (line[i] == 'e' || line[i] == 'E')) {
    ++i;
    if (i < line.size() && (line[i] == '+' || line[i] == '-')) ++i;
    // Two digits of exponent cannot overflow a double; the parser judges the rest.
    const std::size_t exponent = digits();
    if (exponent == 0 || exponent > 2) return at;
  }
  return i;
}

std::uint64_t mix_literal(std::uint64_t hash, const char* text, std::size_t size) {
  return XXH3_64bits_withSeed(text, size, hash);
}

}  // namespace

SpanText read_span(std::string_view line, std::size_t begin, Span::Role role, std::size_t length) {
  SpanText text{begin, 0};
  switch (role) {
    case Span::Role::digest:
    case Span::Role::in_digest:
      if (line.size() - begin >= length && all_hex(line.data() + begin, length)) text.end += length;
      return text;
    case Span::Role::value:
    case Span::Role::statistic: text.end = number_end(line, begin); return text;
    case Span::Role::iteration:
    case Span::Role::sequence: break;
  }
  std::size_t at = begin;
  while (at < line.size() && is_digit(line[at])) {
    text.number = text.number * 10 + static_cast<std::uint64_t>(line[at] - '0');
    ++at;
  }
  const std::size_t digits = at - begin;
  if (digits <= 18 && (digits == 1 || (digits > 1 && line[begin] != '0'))) text.end = at;
  return text;
}

std::optional<LineOutline> LineOutline::make(std::string_view line, const std::vector<Span>& spans) {
  if (spans.size() > max_spans || line.size() > std::numeric_limits<std::uint16_t>::max()) {
    return std::nullopt;
  }
  LineOutline outline;
  std::size_t literal = 0;
  for (const Span& span : spans) {
    outline.m_roles[outline.m_count] = span.role;
    outline.m_gaps[outline.m_count++] = {static_cast<std::uint16_t>(span.begin - literal),
                                         static_cast<std::uint16_t>(span.end - span.begin)};
    outline.m_hash = mix_literal(outline.m_hash, line.data() + literal, span.begin - literal);
    literal = span.end;
  }
  outline.m_rest = static_cast<std::uint32_t>(line.size() - literal);
  outline.m_hash = mix_literal(outline.m_hash, line.data() + literal, outline.m_rest);
  return outline;
}

std::optional<LineOutline::Numbers> LineOutline::match(std::string_view line) const {
  Numbers numbers;
  std::uint64_t hash = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < m_count; ++i) {
    const Gap gap = m_gaps[i];
    if (line.size() - at < gap.literal) return std::nullopt;
    hash = mix_literal(hash, line.data() + at, gap.literal);
    at += gap.literal;
    const SpanText text = read_span(line, at, m_roles[i], gap.length);
    if (text.end == at) return std::nullopt;
    if (m_roles[i] == Span::Role::iteration) numbers.iteration = static_cast<std::int64_t>(text.number);
    if (m_roles[i] == Span::Role::sequence) numbers.sequence = text.number;
    at = text.end;
  }
  if (line.size() - at != m_rest) return std::nullopt;
  if (mix_literal(hash, line.data() + at, m_rest) != m_hash) return std::nullopt;
  return numbers;
}

}  // namespace detdiff::formats
