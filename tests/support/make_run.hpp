#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "formats/memory_run.hpp"

namespace detdiff::test {

/// A record from one line of words: "ITERATION PHASE NAME DIGEST [key=value...]". DIGEST is up to 16
/// hex digits, or "-" for none; keys: mb, occ, dtype, dim (one extent), op, in (an input's digest),
/// attr (value of attribute "x"), scalar (then DIGEST is ignored). Iteration "-" is none.
inline Record make_record(std::string_view line) {
  std::istringstream words{std::string(line)};
  std::string iteration, digest, word;
  Record record;
  record.site.rank = 0;
  words >> iteration >> record.site.phase >> record.site.name >> digest;
  if (iteration != "-") record.site.iteration = std::stoll(iteration);
  record.site.module = record.site.name;
  Fingerprint tensor;
  tensor.dtype = "float32";
  tensor.has_shape = true;
  tensor.shape = {4};
  const auto add_digest = [](Fingerprint& to, std::string hex) {
    Digest one;
    one.kind = DigestKind::xxh3_64;
    hex.insert(0, 16 - hex.size(), '0');
    if (!parse_hex(hex, one)) throw std::invalid_argument(hex);
    to.digests.push_back(one);
  };
  while (words >> word) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (key == "mb") record.site.microbatch = std::stoll(value);
    if (key == "occ") record.site.occurrence = static_cast<std::uint32_t>(std::stoul(value));
    if (key == "dtype") tensor.dtype = value;
    if (key == "dim") tensor.shape = {std::stoll(value)};
    if (key == "op") {
      record.site.operation = value;
      record.kind = RecordKind::call;
    }
    if (key == "attr") record.attributes.push_back({"x", value});
    if (key == "scalar") {
      record.kind = RecordKind::scalar;
      tensor = {};
      tensor.value = value;
      digest = "-";
    }
    if (key == "in") {
      record.inputs_recorded = true;
      record.inputs.push_back(tensor);
      record.inputs.back().digests.clear();
      add_digest(record.inputs.back(), value);
    }
  }
  if (digest != "-") add_digest(tensor, digest);
  record.outputs.push_back(std::move(tensor));
  return record;
}

/// A run of one stream a rank, from lines as make_record reads them; empty lines are skipped. Every
/// stream is `finished`, as MemoryRun's are.
inline std::unique_ptr<Run> make_run(const std::vector<std::string>& ranks) {
  RunInfo info;
  info.path = "memory";
  info.format = "memory";
  std::vector<std::vector<Record>> records;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    info.ranks.push_back({static_cast<std::uint32_t>(rank), "rank " + std::to_string(rank), 0, 0, 0, {}});
    auto& stream = records.emplace_back();
    std::istringstream lines(ranks[rank]);
    for (std::string line; std::getline(lines, line);) {
      if (line.find_first_not_of(' ') == std::string::npos) continue;
      Record record = make_record(line);
      record.site.rank = static_cast<std::uint32_t>(rank);
      record.position = {stream.size() + 1, stream.size()};
      record.sequence = stream.size();
      seal(record);
      stream.push_back(std::move(record));
    }
  }
  return std::make_unique<formats::MemoryRun>(std::move(info), std::move(records));
}

}  // namespace detdiff::test
