#include "detdiff/site.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace detdiff {
namespace {

constexpr std::array<std::string_view, 7> k_level_names{
    "iteration", "microbatch", "phase", "module", "operation", "kernel", "tensor"};
constexpr std::string_view k_plain = "._-+:/@[]*?";

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         k_plain.find(c) != std::string_view::npos;
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (is_plain(c) && c != '*' && c != '?') {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

void append_text(std::string& out, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  if (!out.empty()) out += ',';
  out += key;
  out += '=';
  append_escaped(out, text);
}

void append_number(std::string& out, std::string_view key, std::int64_t number) {
  if (!out.empty()) out += ',';
  out += fmt::format("{}={}", key, number);
}

// The name says nothing new where a level, or module and tensor together, already spell it.
bool name_is_derivable(const Site& site) {
  return site.name.empty() || site.name == site.tensor || site.name == site.module ||
         site.name == site.operation || site.name == site.kernel ||
         (!site.module.empty() && !site.tensor.empty() &&
          site.name == site.module + "." + site.tensor);
}

Error bad_site(std::string message) {
  return {Errc::usage, "SITE", std::move(message),
          "a site is a list like iteration=3,rank=1,phase=backward,module=decoder.*"};
}

Result<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned value = 0;
    const char* begin = text.data() + i + 1;
    if (i + 2 >= text.size() ||
        std::from_chars(begin, begin + 2, value, 16).ptr != begin + 2) {
      return bad_site(fmt::format("expected two hex digits after % in '{}'", text));
    }
    // A literal wildcard stays escaped, so that a printed site matches only itself.
    if (value == '*' || value == '?' || value == '\\') out += '\\';
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

template <class T>
bool parse_number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

std::string without_backslashes(std::string text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

bool level_matches(const std::string& pattern, const std::string& text) {
  return pattern.empty() || pattern == text || glob_match(pattern, text);
}

// Sets one level of `site`; the text keeps its backslashes.
bool set_level(Site& site, std::string_view key, const std::string& value) {
  const auto number = [&value](auto& target) {
    typename std::remove_reference_t<decltype(target)>::value_type parsed{};
    if (!parse_number(value, parsed)) return false;
    target = parsed;
    return true;
  };
  if (key == "iteration") return number(site.iteration);
  if (key == "microbatch") return number(site.microbatch);
  if (key == "rank") return number(site.rank);
  if (key == "occurrence") return parse_number(value, site.occurrence);
  std::string* text = key == "phase"       ? &site.phase
                      : key == "module"    ? &site.module
                      : key == "operation" ? &site.operation
                      : key == "kernel"    ? &site.kernel
                      : key == "tensor"    ? &site.tensor
                      : key == "name"      ? &site.name
                                           : nullptr;
  if (text == nullptr) return false;
  *text = value;
  return true;
}

}  // namespace

std::string_view to_string(Level level) { return k_level_names[static_cast<std::size_t>(level)]; }

std::string to_string(const Site& site) {
  std::string out;
  if (site.iteration) append_number(out, "iteration", *site.iteration);
  if (site.microbatch) append_number(out, "microbatch", *site.microbatch);
  append_text(out, "phase", site.phase);
  append_text(out, "module", site.module);
  append_text(out, "operation", site.operation);
  append_text(out, "kernel", site.kernel);
  append_text(out, "tensor", site.tensor);
  if (!name_is_derivable(site)) append_text(out, "name", site.name);
  if (site.occurrence != 0) append_number(out, "occurrence", site.occurrence);
  if (site.rank) append_number(out, "rank", *site.rank);
  return out;
}

Result<SitePattern> parse_site_pattern(std::string_view text) {
  SitePattern pattern;
  std::string_view rest = text;
  if (rest.empty()) return bad_site("expected key=value, got nothing");
  std::string seen = ",";
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      return bad_site(fmt::format("expected key=value, got '{}'", item));
    }
    const std::string_view key = item.substr(0, equals);
    auto value = unescape(item.substr(equals + 1));
    if (!value) return std::move(value).error();
    if (seen.find(fmt::format(",{},", key)) != std::string::npos) {
      return bad_site(fmt::format("'{}' is given twice", key));
    }
    seen += fmt::format("{},", key);
    if (!set_level(pattern.site, key, *value)) {
      return bad_site(fmt::format("cannot use '{}'", item));
    }
    if (key == "occurrence") pattern.occurrence_given = true;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return pattern;
}

Result<Site> parse_site(std::string_view text) {
  auto pattern = parse_site_pattern(text);
  if (!pattern) return std::move(pattern).error();
  Site site = std::move(pattern->site);
  for (std::string* level :
       {&site.phase, &site.module, &site.operation, &site.kernel, &site.tensor, &site.name}) {
    *level = without_backslashes(std::move(*level));
  }
  if (!site.name.empty()) return site;
  if (!site.module.empty() && !site.tensor.empty()) {
    site.name = site.module + "." + site.tensor;
  } else {
    for (const std::string* level : {&site.module, &site.operation, &site.tensor, &site.kernel}) {
      if (!level->empty() && site.name.empty()) site.name = *level;
    }
  }
  return site;
}

bool matches(const SitePattern& pattern, const Site& site) {
  const Site& p = pattern.site;
  return (!p.rank || p.rank == site.rank) && (!p.iteration || p.iteration == site.iteration) &&
         (!p.microbatch || p.microbatch == site.microbatch) &&
         (!pattern.occurrence_given || p.occurrence == site.occurrence) &&
         level_matches(p.phase, site.phase) && level_matches(p.module, site.module) &&
         level_matches(p.operation, site.operation) && level_matches(p.kernel, site.kernel) &&
         level_matches(p.tensor, site.tensor) && level_matches(p.name, site.name);
}

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
      continue;
    }
    const bool escaped = p + 1 < pattern.size() && pattern[p] == '\\';
    if (p < pattern.size() && (escaped ? pattern[p + 1] == text[t]
                                       : pattern[p] == '?' || pattern[p] == text[t])) {
      p += escaped ? 2 : 1;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace detdiff
