#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace detdiff::report {

/// Text of a log, safe to print inside one line of a terminal or of a CI job's output.
///
/// Newline, tab and carriage return become \n, \t and \r; other C0 controls, DEL and bytes that are
/// no UTF-8 become \xNN; C1, bidi, zero-width and tag characters become \uNNNN or \UNNNNNNNN. The
/// second of two # becomes \x23, because CI systems read "##[" and "##vso[" as commands anywhere in
/// a line. A backslash stays as it is, so Windows paths remain readable and the result cannot be
/// turned back with certainty: JSON reports hold the exact text. Escaping twice changes nothing.
std::string escape(std::string_view text);

/// Columns that `text` takes on a terminal. Does not ask the locale.
std::size_t display_width(std::string_view text);

/// `text` cut in its middle to at most `width` columns, with "..." where something is missing.
/// Shorter text, and a width of 0, leave it whole.
std::string elide(std::string_view text, std::size_t width);

}  // namespace detdiff::report
