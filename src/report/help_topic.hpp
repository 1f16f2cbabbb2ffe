#pragma once

#include <string>
#include <string_view>

#include "detdiff/result.hpp"

namespace detdiff::report {

/// Markdown for a terminal: paragraphs and list items wrapped at `width` columns (0: as they are),
/// headings and **strong** words bold where `color` is on. Code, tables and anything not understood
/// stay as they are; without colour and width the text is returned unchanged.
std::string render_markdown(std::string_view markdown, bool color, unsigned width);

/// The pages of the manual, a line each with its title, below a line that says how to read one.
std::string help_topics();

/// One page of the manual, rendered.
///
/// Errors: Errc::usage for a name that is no topic, with all topics as the hint.
Result<std::string> render_help_topic(std::string_view name, bool color, unsigned width);

}  // namespace detdiff::report
