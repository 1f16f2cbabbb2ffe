#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace detdiff {

/// Where the first byte stands that makes `text` invalid UTF-8 (overlong forms, surrogates and code
/// points above U+10FFFF included), or npos.
std::size_t invalid_utf8(std::string_view text);

/// Appends `text` as a JSON string with quotes. Valid UTF-8 in gives valid JSON out, one spelling
/// per text: only '"', '\\' and control characters are escaped, by their short form where JSON has
/// one, else as \u00xx in lower case.
void append_json_string(std::string& out, std::string_view text);

/// True if `text` is one JSON value in the canonical form of an Attribute: no whitespace, keys
/// unique and sorted by their bytes, numbers as canonical_number writes them and finite, strings as
/// append_json_string writes them, at most 1022 levels.
bool is_canonical_json(std::string_view text);

}  // namespace detdiff
