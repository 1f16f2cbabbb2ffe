#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "detdiff/fingerprint.hpp"
#include "detdiff/site.hpp"

namespace detdiff {

enum class RecordKind : std::uint8_t {
  call,      ///< an operation with input and output tensors
  boundary,  ///< one tensor at a point of the run; its fingerprint is outputs[0]
  scalar,    ///< a metric; its value is outputs[0].value
  event,     ///< something happened; only its attributes are content
};
std::string_view to_string(RecordKind kind);

/// A named property that counts as content: it must agree. `value` is JSON text in canonical form.
struct Attribute {
  std::string name;
  std::string value;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// Where a record stands in its file.
struct Position {
  std::uint64_t line = 0;  ///< 1-based; 0 if the format has no lines
  std::uint64_t byte = 0;  ///< offset of its first byte in the decoded stream
};

/// Hashes that make comparing records cheap; computed by seal().
struct RecordKeys {
  std::uint64_t identity = 0;  ///< site without rank, iteration and occurrence
  std::uint64_t token = 0;     ///< identity, dtypes and shapes: what alignment pairs by
  std::uint64_t content = 0;   ///< everything compared but digests, statistics and scalar values
};

/// One observation. Owned by the stream that produced it and valid until its next read; copy it to
/// keep it.
struct Record {
  RecordKind kind = RecordKind::boundary;
  Site site;                ///< rank is set
  std::string group;        ///< process group of a collective, empty if unrecorded
  bool inputs_recorded = false;  ///< tells "no inputs" from "inputs not recorded"
  std::vector<Fingerprint> inputs;
  std::vector<Fingerprint> outputs;
  std::vector<Attribute> attributes;  ///< sorted by name
  bool recompute = false;             ///< activation recompute inside backward
  bool starts_segment = false;  ///< first record after a restart that appended to the file
  std::uint64_t sequence = 0;         ///< per-rank counter of the log, 0 if it has none
  Position position;
  RecordKeys keys;
};

/// Fills `record.keys`. This and compare_records are the one place that says what enters the identity
/// of a record and what counts as content.
void seal(Record& record);

/// What differs first between two paired records.
struct RecordMatch {
  enum class Outcome : std::uint8_t { equal, dtype, shape, value };
  Outcome outcome = Outcome::equal;
  bool inputs_differ = false;      ///< some recorded input differs
  bool outputs_differ = false;     ///< some output differs
  bool not_comparable = false;     ///< some tensor has values on both sides but no common kind
  std::size_t tensor = 0;          ///< index of the first differing fingerprint
  bool tensor_is_input = false;    ///< the index counts inputs
  std::string attribute;           ///< name of the differing attribute, if that is what differs
};

/// Tallies of what comparisons rested on.
struct EvidenceCounts {
  std::uint64_t tensors = 0;  ///< fingerprints compared
  std::uint64_t ignored = 0;  ///< flagged uninitialised or asynchronous
  std::uint64_t not_comparable = 0;
  std::array<std::uint64_t, evidence_count> by_strength{};
  std::array<std::uint64_t, digest_kind_count> by_kind{};

  int printed_digits = 0;  ///< fewest digits that a rounded value was printed with, 0 if none was

  void note_digits(int digits) {
    if (digits != 0 && (printed_digits == 0 || digits < printed_digits)) printed_digits = digits;
  }
  EvidenceCounts& operator+=(const EvidenceCounts& other);
  /// The weakest strength that any comparison rested on; Evidence::none if nothing was compared.
  [[nodiscard]] Evidence weakest() const;
};

/// Compares two records paired by alignment and adds what the comparison rested on to `counts`.
RecordMatch compare_records(const Record& a, const Record& b, EvidenceCounts& counts);

}  // namespace detdiff
