#pragma once

#include <optional>
#include <string_view>

#include "compare/comparison.hpp"

namespace detdiff::report {

/// What a comparison found, as far as its meaning depends on it.
struct Diagnosis {
  compare::Kind kind = compare::Kind::value;
  std::optional<compare::Class> cls;
  std::optional<compare::Restore> restore;
  std::optional<compare::MetricPattern> pattern;
  bool metrics_only = false;
};

/// One sentence: what it means. The table behind it is the only place that says so.
std::string_view meaning_of(const Diagnosis& diagnosis);

/// What to do about it, as an instruction without a full stop.
std::string_view advice_of(const Diagnosis& diagnosis);

/// True if that instruction is to record something else, rather than to look at what was recorded.
bool asks_to_record(const Diagnosis& diagnosis);

/// What evidence of this strength cannot see, to follow "cannot see"; empty if nothing is known.
/// Digest kinds say it themselves (DigestKindInfo::blind).
std::string_view blind_spot(Evidence evidence);

}  // namespace detdiff::report
