#include "formats/json_scan.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace detdiff::formats {
namespace {

constexpr std::string_view k_escapes = "\"\\/bfnrt";
constexpr std::string_view k_escaped = "\"\\/\b\f\n\r\t";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The UTF-16 unit of "uXXXX" at the front of `text`, or -1.
std::int32_t code_unit(std::string_view text) {
  if (text.size() < 5 || text[0] != 'u') return -1;
  std::int32_t unit = 0;
  for (std::size_t i = 1; i < 5; ++i) {
    const int digit = hex_digit(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

bool is_low_surrogate(std::int32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

char* put_utf8(char* out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
    return out;
  }
  if (code < 0x800) {
    put(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      put(0xe0 | (code >> 12));
    } else {
      put(0xf0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3f));
    }
    put(0x80 | ((code >> 6) & 0x3f));
  }
  put(0x80 | (code & 0x3f));
  return out;
}

}  // namespace

Escape read_escape(std::string_view rest) {
  if (rest.empty()) return {EscapeFault::unknown, 0, 0};
  if (const auto known = k_escapes.find(rest[0]); known != std::string_view::npos) {
    return {EscapeFault::none, 1, static_cast<unsigned char>(k_escaped[known])};
  }
  const std::int32_t unit = code_unit(rest);
  if (unit < 0) return {EscapeFault::unknown, 0, 0};
  if (is_low_surrogate(unit)) return {EscapeFault::lone_surrogate, 0, 0};
  if (unit < 0xd800 || unit >= 0xe000) {
    return {EscapeFault::none, 5, static_cast<std::uint32_t>(unit)};
  }
  const std::int32_t low = rest.size() > 5 && rest[5] == '\\' ? code_unit(rest.substr(6)) : -1;
  if (!is_low_surrogate(low)) return {EscapeFault::lone_surrogate, 0, 0};
  return {EscapeFault::none, 11,
          static_cast<std::uint32_t>(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00))};
}

char* decode_text(std::string_view inside, char* out) {
  while (!inside.empty()) {
    const std::size_t plain = std::min(inside.find('\\'), inside.size());
    out = std::copy_n(inside.data(), plain, out);
    inside.remove_prefix(plain);
    if (inside.empty()) break;
    const Escape escape = read_escape(inside.substr(1));
    out = put_utf8(out, escape.code);
    inside.remove_prefix(1 + escape.size);
  }
  return out;
}

bool fits_64_bits(std::string_view digits, bool negative) {
  if (digits.size() <= 18) return true;
  const std::string_view largest = negative ? "9223372036854775808" : "18446744073709551615";
  return digits.size() < largest.size() || (digits.size() == largest.size() && digits <= largest);
}

bool overflows(std::string_view number) {
  const char* const begin = number.data();
  const char* const end = begin + number.size();
  const char* const e = std::find_if(begin, end, [](char c) { return c == 'e' || c == 'E'; });
  const char* const point = std::find(begin, e, '.');
  if (e == end && point - begin <= 308) return false;
  double value = 0;
  if (std::from_chars(begin, end, value).ec != std::errc::result_out_of_range) return false;
  // A number too small is out of range as well: look at the decimal place of its first digit.
  const char* const first = std::find_if(begin, e, [](char c) { return c >= '1' && c <= '9'; });
  const std::int64_t place = first < point ? point - first : point - first + 1;
  if (e == end) return place > 0;
  const char* digits = e + 1;
  const bool negative = *digits == '-';
  if (*digits == '-' || *digits == '+') ++digits;
  std::int64_t exponent = 0;
  if (std::from_chars(digits, end, exponent).ec != std::errc{}) {
    exponent = std::numeric_limits<std::int64_t>::max() / 2;
  }
  return place + (negative ? -exponent : exponent) > 0;
}

}  // namespace detdiff::formats
