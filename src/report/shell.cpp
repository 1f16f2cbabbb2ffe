#include "report/shell.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/utf8.hpp"

namespace detdiff::report {
namespace {

constexpr std::string_view k_plain = "._-+:/@%,=";

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         k_plain.find(c) != std::string_view::npos;
}

bool is_harmless(std::string_view word) {
  for (std::size_t at = 0; at < word.size();) {
    const CodePoint point = decode_utf8(word, at);
    if (!point.valid || is_control(point.value)) return false;
    at += point.size;
  }
  return word.find("##") == std::string_view::npos;
}

std::string ansi_quote(std::string_view word) {
  std::string out = "$'";
  char last = 0;
  for (std::size_t at = 0; at < word.size();) {
    const CodePoint point = decode_utf8(word, at);
    const std::string_view bytes = word.substr(at, point.size);
    if (!point.valid || is_control(point.value) || (bytes == "#" && last == '#')) {
      // Octal: a \xNN would swallow a hex digit that follows it in some shells.
      for (const char c : bytes) out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      if (bytes == "'" || bytes == "\\") out += '\\';
      out += bytes;
    }
    last = bytes.back();
    at += point.size;
  }
  return out + "'";
}

}  // namespace

std::string shell_quote(std::string_view word) {
  if (word.empty()) return "''";
  if (std::all_of(word.begin(), word.end(), is_plain) && word.front() != '=') {
    return std::string(word);
  }
  if (!is_harmless(word)) return ansi_quote(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string command_line(const std::vector<std::string>& words,
                         const std::vector<std::string>& operands) {
  std::string out = "detdiff";
  for (const auto& word : words) out += " " + shell_quote(word);
  bool dashed = false;
  for (const auto& operand : operands) {
    if (operand == "-") return {};
    if (!operand.empty() && operand.front() == '-') dashed = true;
  }
  if (dashed) out += " --";
  for (const auto& operand : operands) out += " " + shell_quote(operand);
  return out;
}

}  // namespace detdiff::report
