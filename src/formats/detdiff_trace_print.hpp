#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "detdiff/fingerprint.hpp"
#include "formats/json_cursor.hpp"
#include "formats/line_parser.hpp"

namespace detdiff::formats {

// The part of a trace record that is about tensors; see the grammar in detdiff_trace.hpp.

/// Text of at most 64 KiB; `key` names it in the Error.
Result<std::string_view> trace_text(JsonLine& line, std::string_view key,
                                    const JsonLine::Node& node);

/// Reads the fingerprints of the array `node` into `out` and notes where their digests and numbers
/// stand. Errors have no `where`.
Result<void> read_fingerprints(JsonLine& line, std::string_view key, const JsonLine::Node& node,
                               bool inputs, std::vector<Fingerprint>& out,
                               std::vector<Span>& spans);

}  // namespace detdiff::formats
