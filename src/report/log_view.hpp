#pragma once

#include <cstdint>
#include <string>

#include "detdiff/result.hpp"
#include "detdiff/site.hpp"
#include "model/run.hpp"
#include "report/fields.hpp"
#include "report/report.hpp"

namespace detdiff::report {

/// What a log holds, as `detdiff show LOG` tells it. Reads every record once; memory is bounded by
/// the number of distinct phases and modules (at most 100,000 of the latter are kept).
///
/// {"path", "format", "title", "run_id", "world_size", "environment", "ranks": [{"rank", "file",
/// "bytes", "records", "iterations": {"first","last","count"}, "restarts", "finished", "damage",
/// "coordinates"}], "records": {kind: count}, "phases": {name: count}, "modules": {name: count},
/// "modules_left_out", "evidence": {...}, "notices"}
///
/// Errors: whatever a stream reports.
Result<Json> summarise_log(const Run& run);
std::string log_text(const Json& summary, const TextOptions& options);

/// The records that match a pattern, as `detdiff show LOG SITE` prints them: at most `max_rows` in
/// full (0 for all), the others counted.
///
/// {"pattern", "matching", "records": [record as in the compare report, with "kind", "inputs",
/// "outputs", "attributes"]}
Result<Json> find_records(const Run& run, const SitePattern& pattern, std::size_t max_rows);
std::string records_text(const Json& found, const TextOptions& options);

}  // namespace detdiff::report
