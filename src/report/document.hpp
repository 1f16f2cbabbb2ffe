#pragma once

#include "compare/comparison.hpp"
#include "report/fields.hpp"
#include "report/report.hpp"

namespace detdiff::report {

/// Builds the JSON report. Of large comparisons it keeps the first findings of every rank in full
/// and says how many there were ("finding_count").
Json build_document(const compare::Comparison& comparison, const Context& context);

/// Adds "next": what to do now, most useful first, each {"text", "command"} with a command to paste
/// or null.
Json next_steps(const compare::Comparison& comparison, const Context& context);

}  // namespace detdiff::report
