#pragma once

#include <span>
#include <string_view>

/// The manual, built in from the Markdown files of src/report/manual.
namespace detdiff::manual {

struct Topic {
  std::string_view name;  ///< the file's name without ".md"
  std::string_view text;  ///< the file's content
};

/// All topics, sorted by name.
std::span<const Topic> topics();

}  // namespace detdiff::manual
