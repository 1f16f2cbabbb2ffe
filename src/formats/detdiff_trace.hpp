#pragma once

#include <memory>
#include <string>
#include <vector>

#include "detdiff/trace_writer.hpp"
#include "formats/format_table.hpp"
#include "formats/json_cursor.hpp"
#include "formats/line_parser.hpp"

namespace detdiff::formats {

// detdiff's own trace format, version 1: what every reader can be converted to, and what a recorder
// writes. One file a rank, JSON Lines in UTF-8, .zst and .gz as everywhere. TraceWriter writes it,
// and `detdiff help trace-format` explains it.
//
//   file     := segment+                a restarted run appends a segment
//   segment  := header record* [trailer]
//
//   header   := {"detdiff_trace":1,      best first in the line: files are known by it
//                ["tool":{["name":name] ["version":name]},]
//                ["run_id":name,]        one for all files of a run
//                ["rank":u32,] ["world_size":u32,]
//                ["coordinates":{name:u,...},]      of this rank: "tp", "pp", "dp", ...
//                ["groups":{name:[u32,...],...},]   the ranks of each process group
//                ["environment":{name:name,...},]
//                ["digests":[kind,...],]            kinds that records carry
//                ["content":"tensors"|"metrics",]   "metrics": only scalars per step
//                ["started":name]}                  RFC 3339
//   trailer  := {"end":true, "records":u}           records since the header
//   record   := {"kind":"call"|"boundary"|"scalar"|"event",
//                ["sequence":u,]         in all records of a segment or in none
//                ["iteration":u,] ["microbatch":u,]
//                ["phase":name,] ["module":name,] ["operation":name,] ["kernel":name,]
//                ["tensor":name,]
//                ["name":name,]          default: trace::default_name
//                ["occurrence":u32,]     absent: the reader counts equal sites
//                ["group":name,] ["recompute":bool,]
//                ["inputs":[print,...],]            absent: unrecorded; []: there are none
//                ["outputs":[print,...],]
//                ["attributes":{name:json,...},]    content: must agree
//                ["notes":{name:json,...}]}         not content: never compared
//   print    := {["tensor":name,] ["dtype":name,] ["shape":[u,...],]
//                ["digests":digests,] ["stats":{name:real,...},]
//                ["value":real,] ["digits":0..100,] digits printed, if `value` was rounded
//                ["flags":["view"|"in_place"|"uninitialised"|"asynchronous",...]]}
//   digests  := {kind:hex,...} | [{"kind":kind, "hex":hex, ["scope":u64,] ["sampled":bool]},...]
//   real     := number | "nan" | "inf" | "-inf"
//   kind     := a name of digest_kinds(); hex has twice its size in digits, of either case
//   u        := an integer from 0 to 2^63-1; u32 to 2^32-1; u64 to 2^64-1
//   name     := text of at most 64 KiB
//
// A boundary and a scalar have one output, the scalar's with a value; an event has neither inputs
// nor outputs; a call has any number. A record names something: one of name, module, operation,
// kernel, tensor. Keys come in any order; null is the same as an absent key; unknown keys are
// skipped, so that later versions can add some, but not unknown kinds, digests, flags or contents,
// which would change the meaning (Errc::unsupported). "torch." in front of a dtype is dropped.
//
// Limits, each Errc::limit: 4096 fingerprints a record; 64 dimensions; 1024 digests and 1024
// statistics a fingerprint; and those of JsonLine.
//
// `sequence` rises strictly inside a segment. The headers of one file agree in their rank.

/// The parser of one rank's file. For a trailer it leaves the promised number of records in
/// `out.record.sequence`: the stream counts, as it does not show a parser every line.
std::unique_ptr<LineParser> make_detdiff_trace_parser();

/// Reads a header from a parsed line whose root has the key "detdiff_trace".
///
/// Errors (empty `where`): Errc::unsupported for a newer version, naming both, and for an unknown
/// digest kind or content; Errc::damaged for the rest.
Result<TraceHeader> parse_trace_header(JsonLine& line);

Sniff sniff_detdiff_trace(const InputFile& file);

/// Opens the files of one run, one a rank. In a folder every header must have a rank, no two the
/// same one; run ids, world sizes and contents must agree where they are given. An environment
/// variable that differs between ranks is left out of RunInfo with a notice.
Result<std::unique_ptr<Run>> open_detdiff_trace(const std::string& path, bool folder,
                                                std::vector<InputFile> files,
                                                const OpenOptions& options);

}  // namespace detdiff::formats
