#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "formats/format_table.hpp"

namespace detdiff::formats {

/// Golden metric files are read whole: a longer one is an error. JsonLine::max_nodes bounds how
/// many values they hold.
inline constexpr std::size_t max_golden_bytes = std::size_t{64} << 20;

/// Digits behind the point in files that do not say how precise they are.
inline constexpr int golden_printed_digits = 5;

/// Sniff::yes for a JSON object whose first member is an object with a number "start_step", or with
/// "values" that are an object or a list; Sniff::no for everything else, and for a head that ends
/// before it can be told.
Sniff sniff_golden_metrics(const InputFile& file);

/// Opens the metrics that Megatron-LM's functional tests extract from TensorBoard:
///
///     {"lm loss": {"start_step": 1, "end_step": 100, "step_interval": 1,
///                  "values": {"1": "nan", ..., "51": 9.55048, ...}}, "num-zeros": {...}}
///
/// Records: one scalar per (step, metric) with a value, steps ascending, inside a step by the phase
/// of metric_info() and then in file order. Equal printed digits are what the values can prove,
/// unless the metric says "value_precision": "full"; then they are exact. Metrics that measure the
/// machine, and copies over another axis, are left out, with a notice that names them.
///
/// What is no number:
///   * The text "nan" is the extractor's word for "nothing was logged at this step", so there is no
///     record. Newer extractors leave such a step out, which therefore is the same. It says which
///     steps a run did not make (a resumed run has it up to the checkpoint), and inside a run that
///     a metric was not logged there: Megatron-LM logs no num-zeros where it skipped an update. A
///     step without value between others is told in a notice ("steps_without_value").
///   * A loss that became NaN was written as the bare word NaN (Python's json.dump): a record with
///     the value "nan". Infinity and -Infinity likewise, and the texts "NaN", "inf", "-inf",
///     "Infinity" and "-Infinity", which other writers use.
///   * Where "value_precision" is "full" the extractor leaves steps out, so that the text "nan" can
///     only be a value there.
///
/// Errors, with file and line where the JSON is valid, else with the byte: invalid JSON or UTF-8,
/// duplicate keys, a metric that is no object or has no values, a step that is no decimal integer
/// of 0..2^63-1 without leading zeros or lies outside of start_step..end_step, a value that is none
/// of the above (Errc::damaged); another "value_precision" or the list of values of older files,
/// which does not say its steps (Errc::unsupported); a limit, 256 bytes of a name among them
/// (Errc::limit); more than one file, since each is a run (Errc::usage).
Result<std::unique_ptr<Run>> open_golden_metrics(const std::string& path, bool folder,
                                                 std::vector<InputFile> files,
                                                 const OpenOptions& options);

}  // namespace detdiff::formats
