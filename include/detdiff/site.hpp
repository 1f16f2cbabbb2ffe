#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "detdiff/result.hpp"

namespace detdiff {

/// The levels of a site, coarse to fine.
enum class Level : std::uint8_t { iteration, microbatch, phase, module, operation, kernel, tensor };
std::string_view to_string(Level level);

/// The semantic address of a record. Empty text and nullopt mean "not recorded".
struct Site {
  std::optional<std::int64_t> iteration;
  std::optional<std::int64_t> microbatch;
  std::string phase;
  std::string module;
  std::string operation;
  std::string kernel;
  std::string tensor;
  std::uint32_t occurrence = 0;  ///< how often the same site was seen before in the iteration
  std::optional<std::uint32_t> rank;
  std::string name;              ///< the record's own name, as its log spells it

  /// Orders by iteration, microbatch, phase, module, operation, kernel, tensor, occurrence, then rank
  /// and name; absent sorts first. A total order for tables, never an execution order.
  friend std::strong_ordering operator<=>(const Site&, const Site&) = default;
  friend bool operator==(const Site&, const Site&) = default;
};

/// One line that a shell takes as one word and parse_site reads back:
/// `iteration=3,microbatch=1,phase=backward,module=decoder.layers.1.mlp.linear_fc2,tensor=weight.grad,rank=1`.
/// Absent levels and occurrence 0 are left out; `name` is printed only where the levels do not spell
/// it. Any byte but letters, digits and `._-+:/@[]` is written as %XX.
std::string to_string(const Site& site);

/// Reads what to_string(Site) printed. A name that was left out is put together again from the levels.
///
/// Errors: Errc::usage with the key or number that was not understood; `where` is "SITE".
Result<Site> parse_site(std::string_view text);

/// A site to look for: levels that are absent match anything, text may hold the wildcards * and ?.
struct SitePattern {
  Site site;
  bool occurrence_given = false;  ///< tells "occurrence 0" from "any occurrence"
};

/// Reads the same grammar as a pattern; a wildcard written as %2A or %3F stands for itself.
Result<SitePattern> parse_site_pattern(std::string_view text);
bool matches(const SitePattern& pattern, const Site& site);

/// Shell-style match of * and ? over a whole text; a backslash takes the next character literally.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace detdiff
