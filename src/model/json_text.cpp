#include "model/json_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include "detdiff/fingerprint.hpp"

namespace detdiff {
namespace {

constexpr std::string_view k_hex = "0123456789abcdef";

// What fits into a record: JSON lines are read to 1024 levels, two of which enclose an attribute.
constexpr std::size_t k_max_depth = 1022;

unsigned char byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

bool is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

/// Checks one value at the front of its text and removes it.
class CanonicalCheck {
 public:
  explicit CanonicalCheck(std::string_view text) : m_rest(text) {}

  bool whole() { return value(0) && m_rest.empty(); }

 private:
  bool take(std::string_view word) {
    if (!m_rest.starts_with(word)) return false;
    m_rest.remove_prefix(word.size());
    return true;
  }

  bool value(std::size_t depth) {
    if (m_rest.empty()) return false;
    switch (m_rest.front()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case 'n':
        return take("null");
      case 't':
        return take("true");
      case 'f':
        return take("false");
      case '"': {
        std::string decoded;
        return string(decoded);
      }
      default:
        return number();
    }
  }

  bool array(std::size_t depth) {
    if (depth == k_max_depth) return false;
    if (take("[]")) return true;
    do {
      m_rest.remove_prefix(1);  // '[' or ','
      if (!value(depth + 1)) return false;
    } while (m_rest.starts_with(','));
    return take("]");
  }

  bool object(std::size_t depth) {
    if (depth == k_max_depth) return false;
    if (take("{}")) return true;
    std::string last;
    bool first = true;
    do {
      m_rest.remove_prefix(1);  // '{' or ','
      std::string key;
      if (!string(key) || (!first && key <= last)) return false;
      if (!take(":") || !value(depth + 1)) return false;
      last = std::move(key);
      first = false;
    } while (m_rest.starts_with(','));
    return take("}");
  }

  bool number() {
    const std::size_t size = std::min(m_rest.find_first_not_of("+-.0123456789eE"), m_rest.size());
    const std::string_view text = m_rest.substr(0, size);
    if (!is_finite_number(text) || canonical_number(text) != text) return false;
    m_rest.remove_prefix(size);
    return true;
  }

  static bool is_finite_number(std::string_view text) {
    const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
    if (digits.empty() || digits[0] < '0' || digits[0] > '9') return false;
    if (digits[0] == '0' && digits.size() > 1 && digits[1] >= '0' && digits[1] <= '9') return false;
    if (const auto point = digits.find('.'); point != std::string_view::npos) {
      const unsigned char next = byte_at(digits, point + 1);
      if (next < '0' || next > '9') return false;
    }
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    if (digits.find_first_not_of("0123456789") == std::string_view::npos) {
      std::int64_t whole = 0;
      std::uint64_t large = 0;
      return std::from_chars(begin, end, whole).ec == std::errc{} ||
             (digits.size() == text.size() && std::from_chars(begin, end, large).ec == std::errc{});
    }
    double value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value);
    return error == std::errc{} && stop == end && std::isfinite(value);
  }

  // Reads a string, and compares it with how its text is written here.
  bool string(std::string& decoded) {
    if (!m_rest.starts_with('"')) return false;
    std::size_t i = 1;
    while (i < m_rest.size() && m_rest[i] != '"') {
      if (m_rest[i] != '\\') {
        decoded += m_rest[i++];
        continue;
      }
      const unsigned char kind = byte_at(m_rest, i + 1);
      constexpr std::string_view from = "\"\\bfnrt";
      constexpr std::string_view to = "\"\\\b\f\n\r\t";
      if (const auto known = from.find(static_cast<char>(kind)); known != std::string_view::npos) {
        decoded += to[known];
        i += 2;
        continue;
      }
      const auto low = k_hex.find(static_cast<char>(byte_at(m_rest, i + 5)));
      if (kind != 'u' || low == std::string_view::npos) return false;
      decoded += static_cast<char>((byte_at(m_rest, i + 4) == '1' ? 16U : 0U) + low);
      i += 6;
    }
    if (i >= m_rest.size() || invalid_utf8(decoded) != std::string_view::npos) return false;
    std::string again;
    append_json_string(again, decoded);
    return take(again);
  }

  std::string_view m_rest;
};

}  // namespace

std::size_t invalid_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const unsigned char lead = byte_at(text, i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4) return i;
    const unsigned char second = byte_at(text, i + 1);
    const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
    const bool outside = (lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f);
    if (overlong || outside) return i;
    for (std::size_t k = 1; k < size; ++k) {
      if (!is_continuation(byte_at(text, i + k))) return i;
    }
    i += size;
  }
  return std::string_view::npos;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && c != '"' && c != '\\') {
      out += c;
      continue;
    }
    out += '\\';
    switch (c) {
      case '\b':
        out += 'b';
        break;
      case '\f':
        out += 'f';
        break;
      case '\n':
        out += 'n';
        break;
      case '\r':
        out += 'r';
        break;
      case '\t':
        out += 't';
        break;
      case '"':
      case '\\':
        out += c;
        break;
      default:
        out += "u00";
        out += k_hex[byte >> 4];
        out += k_hex[byte & 15];
    }
  }
  out += '"';
}

bool is_canonical_json(std::string_view text) { return CanonicalCheck(text).whole(); }

}  // namespace detdiff
