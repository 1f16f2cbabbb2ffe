#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "detdiff/record.hpp"
#include "detdiff/result.hpp"
#include "detdiff/trace_writer.hpp"

namespace detdiff::trace {

// The lines of a trace, each with its newline. What the reader would refuse is Errc::usage with an
// empty `where`.

Result<std::string> header_line(const TraceHeader& header);

/// With `sequence` if `numbered`.
Result<std::string> record_line(const Record& record, const std::vector<Attribute>& notes,
                                bool numbered);

/// Canonical text of a number; "nan", "inf" or "-inf" where it is none.
std::string real_text(double value);

std::string trailer_line(std::uint64_t records);

}  // namespace detdiff::trace
