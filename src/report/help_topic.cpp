#include "report/help_topic.hpp"

#include <fmt/format.h>

#include <vector>

#include "report/escape.hpp"
#include "report/manual.hpp"

namespace detdiff::report {
namespace {

constexpr std::string_view k_bold = "\x1b[1m";
constexpr std::string_view k_plain = "\x1b[0m";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::size_t indent_of(std::string_view line) {
  const std::size_t at = line.find_first_not_of(' ');
  return at == std::string_view::npos ? 0 : at;
}

// Columns before the text of a list item ("- ", "12. "), 0 for anything else.
std::size_t list_marker(std::string_view line) {
  const std::size_t begin = indent_of(line);
  const std::string_view rest = line.substr(begin);
  if (rest.starts_with("- ") || rest.starts_with("* ")) return begin + 2;
  std::size_t digits = 0;
  while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') ++digits;
  return digits != 0 && rest.substr(digits).starts_with(". ") ? begin + digits + 2 : 0;
}

bool stands_alone(std::string_view line) {
  return line.empty() || line.front() == '#' || line.front() == '|' || line.starts_with("    ") ||
         line.starts_with("```");
}

std::string emphasised(std::string_view line, bool color) {
  std::string out;
  bool bold = false;
  bool code = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '`') code = !code;
    if (!color || code || line.substr(at, 2) != "**") {
      out += line[at];
      continue;
    }
    bold = !bold;
    out += bold ? k_bold : k_plain;
    ++at;
  }
  if (bold) out += k_plain;
  return out;
}

std::string_view title_of(std::string_view markdown) {
  const std::size_t begin = markdown.find_first_not_of("# \n");
  if (begin == std::string_view::npos) return {};
  return markdown.substr(begin, markdown.find('\n', begin) - begin);
}

// Joins the words of a paragraph into lines of at most `width` columns.
void wrap(std::string_view text, std::size_t hanging, std::size_t width, bool color,
          std::string& out) {
  std::string line(text.substr(0, indent_of(text)));
  std::string all;
  bool fresh = true;
  const auto flush = [&] {
    all += line + "\n";
    line.assign(hanging, ' ');
    fresh = true;
  };
  std::size_t at = indent_of(text);
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (!fresh && display_width(line) + 1 + display_width(word) > width) flush();
    if (!fresh) line += ' ';
    line += word;
    fresh = false;
  }
  flush();
  out += emphasised(all, color);
}

}  // namespace

std::string render_markdown(std::string_view markdown, bool color, unsigned width) {
  const auto lines = lines_of(markdown);
  std::string out;
  bool fenced = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const bool fence = line.starts_with("```");
    if (fence) fenced = !fenced;
    if (color && !fenced && line.starts_with('#')) {
      const std::size_t begin = line.find_first_not_of("# ");
      out += fmt::format("{}{}{}\n", k_bold,
                         begin == std::string_view::npos ? line : line.substr(begin), k_plain);
    } else if (fenced || fence || width == 0 || stands_alone(line)) {
      const bool verbatim = fenced || fence || line.starts_with("    ");
      out += (verbatim ? std::string(line) : emphasised(line, color)) + "\n";
    } else {
      const std::size_t hanging = list_marker(line);
      std::string paragraph(line);
      while (i + 1 < lines.size() && !stands_alone(lines[i + 1]) &&
             list_marker(lines[i + 1]) == 0) {
        ++i;
        paragraph += ' ';
        paragraph += lines[i].substr(indent_of(lines[i]));
      }
      wrap(paragraph, hanging, width, color, out);
    }
  }
  return out;
}

std::string help_topics() {
  std::string out = "Topics (detdiff help TOPIC):\n";
  for (const auto& topic : manual::topics()) {
    out += fmt::format("  {:<15} {}\n", topic.name, title_of(topic.text));
  }
  return out;
}

Result<std::string> render_help_topic(std::string_view name, bool color, unsigned width) {
  for (const auto& topic : manual::topics()) {
    if (topic.name == name) return render_markdown(topic.text, color, width);
  }
  std::string names;
  for (const auto& topic : manual::topics()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", topic.name);
  }
  return Error{Errc::usage, std::string(name), "no such help topic", "topics: " + names};
}

}  // namespace detdiff::report
