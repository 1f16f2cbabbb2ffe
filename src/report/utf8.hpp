#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace detdiff::report {

/// One code point of a text that may be anything.
struct CodePoint {
  char32_t value = 0;    ///< the byte itself where `valid` is false
  std::size_t size = 1;  ///< bytes it takes, at least 1
  bool valid = false;    ///< false for a byte that is not part of well-formed UTF-8
};

/// Decodes the code point that begins at `at`, which must lie inside `text`. Overlong forms,
/// surrogates and values past U+10FFFF are invalid, one byte at a time.
CodePoint decode_utf8(std::string_view text, std::size_t at);

/// True for what must never reach a terminal or a line of its own: C0, DEL and C1 controls, line
/// and paragraph separators, bidi and zero-width controls, the byte order mark, tag characters.
bool is_control(char32_t value);

/// Columns that one code point takes on a terminal: 0, 1 or 2. Does not ask the locale.
std::size_t column_count(char32_t value);

/// Well-formed UTF-8 from any bytes: a byte that is no UTF-8 becomes the four characters \xNN.
/// Everything else, controls included, stays.
std::string to_utf8(std::string_view text);

}  // namespace detdiff::report
