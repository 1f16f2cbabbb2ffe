#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/fields.hpp"

namespace detdiff::report {

/// Phrases of the text report, made from parts of the JSON report and safe to print.

/// "iteration 3, microbatch 1, rank 1, backward, decoder.layers.1.mlp.linear_fc2, weight.grad".
std::string place(const Json& site);

/// The levels below the phase, or the record's name where none is recorded.
std::string short_place(const Json& site);

/// "5-8", "5" or "-3 to 2".
std::string range_text(std::int64_t first, std::int64_t last);

/// "0-3, 5, 8-9" of ascending numbers.
std::string ranges_text(const std::vector<std::int64_t>& numbers);

/// "float32[32, 128]"; parts that were not recorded are left out.
std::string layout_text(const Json& fingerprint);

/// "rank_000001.jsonl:4812", or with "@byte" where the format has no lines.
std::string position_text(const Json& record);

/// What the verdict rests on: "full sha256", "5 printed digits", "weakest: samples (sha256)".
std::string evidence_text(const Json& evidence);

/// "8 iterations, 2 of 2 ranks, 9,876 records"; "4 of 8 iterations (5-8), ..." where some of those
/// recorded were not compared.
std::string coverage_text(const Json& document);

/// The same, with both numbers in every case: "2 of 2 ranks, 8 of 8 iterations, 9,876 records".
std::string full_coverage_text(const Json& document);

/// The first line of the report, without colour. Its first word is the verdict in capitals.
std::string verdict_line(const Json& document);

/// Lists as prose: "a", "a and b", "a, b and c".
std::string joined(const std::vector<std::string>& parts);

/// Numbers of the ranks that both runs hold, and whether ranks are worth naming at all.
struct RankCount {
  std::size_t total = 0;
  std::size_t compared = 0;
  bool named = false;  ///< more than one, or numbered
};
RankCount rank_count(const Json& document);

}  // namespace detdiff::report
