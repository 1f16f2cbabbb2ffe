#include "report/escape.hpp"

#include <fmt/format.h>

#include <vector>

#include "report/utf8.hpp"

namespace detdiff::report {
namespace {

std::string escaped(const CodePoint& point) {
  const auto value = static_cast<std::uint32_t>(point.value);
  if (!point.valid) return fmt::format("\\x{:02x}", value);
  switch (value) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      break;
  }
  if (value < 0x80) return fmt::format("\\x{:02x}", value);
  return value <= 0xFFFF ? fmt::format("\\u{:04x}", value) : fmt::format("\\U{:08x}", value);
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    if (!point.valid || is_control(point.value)) {
      out += escaped(point);
    } else if (point.value == '#' && !out.empty() && out.back() == '#') {
      out += "\\x23";
    } else {
      out.append(text.substr(at, point.size));
    }
    at += point.size;
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    width += point.valid ? column_count(point.value) : 1;
    at += point.size;
  }
  return width;
}

std::string elide(std::string_view text, std::size_t width) {
  constexpr std::string_view k_gap = "...";
  if (width == 0 || display_width(text) <= width) return std::string(text);
  if (width <= k_gap.size()) return std::string(k_gap.substr(0, width));
  struct Piece {
    std::size_t begin, columns;
  };
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    pieces.push_back({at, point.valid ? column_count(point.value) : 1});
    at += point.size;
  }
  const std::size_t room = width - k_gap.size();
  std::size_t head = 0;
  std::size_t used = 0;
  while (head < pieces.size() && used + pieces[head].columns <= room / 2) {
    used += pieces[head++].columns;
  }
  std::size_t tail = pieces.size();
  while (tail > head && used + pieces[tail - 1].columns <= room) used += pieces[--tail].columns;
  while (tail < pieces.size() && pieces[tail].columns == 0) ++tail;
  const std::size_t tail_begin = tail < pieces.size() ? pieces[tail].begin : text.size();
  return std::string(text.substr(0, pieces[head].begin)) + std::string(k_gap) +
         std::string(text.substr(tail_begin));
}

}  // namespace detdiff::report
