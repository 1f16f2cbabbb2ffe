#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/format_table.hpp"
#include "formats/line_parser.hpp"

namespace detdiff::formats {

// Megatron-LM's rank-local determinism trace (pull request 6610, first version and the reworked
// `megatron/core/determinism/trace_schema.py`): one file a rank, `rank_000000.jsonl`, no header.
//
//   record   := {"event":"event"|"tensor", "iteration":u|null, "microbatch":u|null, "name":text,
//                "occurrence":u, "phase":text, "rank":u, "schema_version":1, "sequence":u, body}
//   body     := "fields":object                                   for "event"
//             | "metadata":object, "tensor":tensor                 for "tensor"
//   tensor   := {"device_type":text, "dtype":text, "layout":text, "mode":mode, "numel":u,
//                "requires_grad":bool, "shape":[u...], ["stride":[i...],] "value_observed":bool,
//                "exact_value_certificate":bool, values}
//   values   := nothing                                                           "metadata"
//             | "summary":{"all_finite":bool, "l2_norm","maximum","mean","minimum":number|null}
//             | "sha256":hex64, "captured_numel":u, "sample_indices":[u...], "all_finite":bool
//             | "sha256":hex64, "captured_numel":numel, "all_finite":bool           "full"
//
// Keys come in any order, unknown ones count as content. `sequence` strictly increases in a file;
// `occurrence` tells records of one (event, name, iteration, microbatch, phase) apart. A run that
// crashed and was resumed with --determinism-trace-append records iterations again, in file order.
// An event whose only field is "value" (a number, or null with "finite":false and "nonfinite") is a
// scalar.

/// The parser of one rank's file. Refuses what the format's own reader refuses: missing or mistyped
/// fields, booleans for integers, negative integers, control characters or more than 512 characters
/// in names, numel that is not the product of the shape, a stride of another rank, value fields that
/// contradict the mode, sample indices that are not evenly spaced.
std::unique_ptr<LineParser> make_megatron_trace_parser();

Sniff sniff_megatron_trace(const InputFile& file);

/// In a folder every file must be named rank_N.jsonl (with .zst or .gz behind it), one a rank, none
/// empty; the number must be the rank of its records. A single file may have any name.
Result<std::unique_ptr<Run>> open_megatron_trace(const std::string& path, bool folder,
                                                 std::vector<InputFile> files,
                                                 const OpenOptions& options);

}  // namespace detdiff::formats
