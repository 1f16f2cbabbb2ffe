#include "report/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace detdiff::report {
namespace {

struct Range {
  char32_t first, last;
};

constexpr std::array k_controls{
    Range{0x0000, 0x001F}, Range{0x007F, 0x009F}, Range{0x00AD, 0x00AD},   Range{0x061C, 0x061C},
    Range{0x180E, 0x180E}, Range{0x200B, 0x200F}, Range{0x2028, 0x202E},   Range{0x2060, 0x206F},
    Range{0xFEFF, 0xFEFF}, Range{0xFFF9, 0xFFFB}, Range{0xE0000, 0xE0FFF},
};

constexpr std::array k_combining{
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x0610, 0x061A},
    Range{0x064B, 0x065F}, Range{0x0670, 0x0670}, Range{0x06D6, 0x06DC}, Range{0x0900, 0x0902},
    Range{0x093C, 0x093C}, Range{0x0941, 0x0948}, Range{0x094D, 0x094D}, Range{0x0E31, 0x0E31},
    Range{0x0E34, 0x0E3A}, Range{0x0E47, 0x0E4E}, Range{0x1160, 0x11FF}, Range{0x1AB0, 0x1AFF},
    Range{0x1DC0, 0x1DFF}, Range{0x20D0, 0x20FF}, Range{0x302A, 0x302D}, Range{0x3099, 0x309A},
    Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F},
};

constexpr std::array k_wide{
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0x33FF},
    Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},   Range{0xA000, 0xA4CF},
    Range{0xA960, 0xA97F},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},
    Range{0x1F300, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF},
    Range{0x20000, 0x3FFFD},
};

bool contains(std::span<const Range> ranges, char32_t value) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), value,
                       [](char32_t x, const Range& range) { return x < range.first; });
  return after != ranges.begin() && value <= std::prev(after)->last;
}

struct Lead {
  std::size_t size;
  char32_t bits;
  char32_t least;
};

Lead classify(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if (byte >= 0xC2 && byte < 0xE0) return {2, byte & 0x1FU, 0x80};
  if (byte >= 0xE0 && byte < 0xF0) return {3, byte & 0x0FU, 0x800};
  if (byte >= 0xF0 && byte < 0xF5) return {4, byte & 0x07U, 0x10000};
  return {0, byte, 0};
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t at) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const CodePoint invalid{byte(at), 1, false};
  const Lead lead = classify(byte(at));
  if (lead.size == 0 || lead.size > text.size() - at) return invalid;
  char32_t value = lead.bits;
  for (std::size_t i = 1; i < lead.size; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return invalid;
    value = (value << 6U) | (byte(at + i) & 0x3FU);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < lead.least || value > 0x10FFFF || surrogate) return invalid;
  return {value, lead.size, true};
}

bool is_control(char32_t value) { return contains(k_controls, value); }

std::size_t column_count(char32_t value) {
  if (value >= 0x20 && value < 0x7F) return 1;
  if (is_control(value) || contains(k_combining, value)) return 0;
  return contains(k_wide, value) ? 2 : 1;
}

std::string to_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    if (point.valid) {
      out.append(text.substr(at, point.size));
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(point.value));
    }
    at += point.size;
  }
  return out;
}

}  // namespace detdiff::report
