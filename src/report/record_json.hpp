#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compare/comparison.hpp"
#include "report/explain.hpp"
#include "report/fields.hpp"

namespace detdiff::report {

/// Parts of the JSON report. Digests, statistics and values are text, so that no reader rounds
/// them; counts and positions are integers; bytes that are no UTF-8 become \xNN.

/// Text as a JSON string; null where empty.
Json text_or_null(std::string_view text);

/// Every level of a site, null where it was not recorded.
Json site_json(const Site& site);

/// Element type, shape, digests, statistics, value and flags of one tensor.
Json fingerprint_json(const Fingerprint& fingerprint);

/// How the side of a finding reads: which log it came from and how that side counts.
struct RecordOrigin {
  std::string file;                       ///< as the user would name it
  std::optional<std::int64_t> iteration;  ///< as this side counts it
};
Json record_json(const Record& record, const RecordOrigin& origin);

/// One divergence of `rank` with both records.
Json finding_json(const compare::Comparison& comparison, const compare::RankResult& rank,
                  const compare::Finding& finding);

/// The class of a finding; none where metrics alone cannot give one.
std::optional<compare::Class> reported_class(const compare::Finding& finding);

/// What the meaning of a finding depends on.
Diagnosis diagnosis_of(const compare::Comparison& comparison, const compare::Finding& finding);

/// {"first", "last", "count"} or null.
Json span_json(const std::optional<compare::IterationSpan>& span);

/// {"weakest", "kinds", ...}: tallies by strength and by digest kind; what is zero is left out.
Json evidence_json(const EvidenceCounts& counts, Evidence weakest);

}  // namespace detdiff::report
