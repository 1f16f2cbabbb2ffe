#include <fmt/format.h>

#include <array>
#include <vector>

#include "report/fields.hpp"
#include "report/report.hpp"

namespace detdiff::report {
namespace {

constexpr std::size_t k_max_depth = 64;
constexpr std::uint64_t k_max_members = 1024;
constexpr std::size_t k_max_bytes = std::size_t{1} << 30;

// Bounds what a parser would spend on hostile text, before one sees it: recursion, and the linear
// search for members of one object.
Result<void> check_limits(std::string_view text, const std::string& where) {
  if (text.size() > k_max_bytes) {
    return Error{Errc::limit, where, "a report of over 1 GiB is not read"};
  }
  std::vector<std::uint64_t> members;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') {
      members.push_back(0);
      if (members.size() > k_max_depth) {
        return Error{Errc::limit, where,
                     fmt::format("nesting deeper than {} at byte {}", k_max_depth, at)};
      }
    }
    if ((c == '}' || c == ']') && !members.empty()) members.pop_back();
    if (c == ':' && !members.empty() && ++members.back() > k_max_members) {
      return Error{Errc::limit, where,
                   fmt::format("an object of over {} members at byte {}", k_max_members, at)};
    }
  }
  return {};
}

Error not_a_report(const std::string& where, std::string message) {
  return {Errc::damaged, where, std::move(message),
          "a report is what 'detdiff compare --format json' writes"};
}

Result<void> check_document(const Json& document, const std::string& where) {
  if (!document.is_object()) return not_a_report(where, "expected a JSON object");
  const auto version = integer_of(document, "schema_version");
  if (!version || *version < 1) {
    return not_a_report(where, "expected a positive integer in \"schema_version\"");
  }
  if (*version > k_schema_version) {
    return Error{Errc::unsupported, where,
                 fmt::format("report version {} is newer than this detdiff (reads {})", *version,
                             k_schema_version),
                 "upgrade detdiff"};
  }
  constexpr std::array<std::string_view, 3> k_verdicts{"same", "divergent", "inconclusive"};
  for (const auto verdict : k_verdicts) {
    if (is(document, "verdict", verdict)) return {};
  }
  return not_a_report(where, "expected same, divergent or inconclusive in \"verdict\"");
}

}  // namespace

Result<Report> Report::read(std::string_view text, const std::string& where) {
  const auto limits = check_limits(text, where);
  if (!limits) return limits.error();
  auto document = std::make_shared<Json>(Json::parse(text, nullptr, false));
  if (document->is_discarded()) return not_a_report(where, "not valid JSON");
  const auto checked = check_document(*document, where);
  if (!checked) return checked.error();
  return Report(std::move(document));
}

bool Report::recognise(std::string_view head) {
  constexpr std::string_view k_blank = " \t\r\n";
  const std::size_t brace = head.find_first_not_of(k_blank);
  if (brace == std::string_view::npos || head[brace] != '{') return false;
  const std::size_t key = head.find_first_not_of(k_blank, brace + 1);
  if (key == std::string_view::npos) return false;
  const std::string_view start = head.substr(key, 4096);
  const auto holds = [start](std::string_view text) {
    return start.find(text) != std::string_view::npos;
  };
  // As written, or with sorted keys as "jq -S" leaves them.
  if (start.starts_with("\"schema_version\"")) return holds("\"tool\"") && holds("\"argv\"");
  return start.starts_with("\"argv\"") && (holds("\"class\"") || holds("\"coverage\""));
}

}  // namespace detdiff::report
