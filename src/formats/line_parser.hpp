#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "detdiff/record.hpp"
#include "detdiff/result.hpp"

namespace detdiff::formats {

/// A part of a line that changes from one iteration to the next while the rest stays.
///
/// JsonlStream learns these from a parsed line and reads the same line of the next iteration without
/// a JSON parser: literal text between the spans must agree byte for byte, the spans are read by
/// role. A format that marks no spans is still read, only slower.
struct Span {
  enum class Role : std::uint8_t {
    iteration,  ///< unsigned integer -> site.iteration
    sequence,   ///< unsigned integer -> sequence
    digest,     ///< lower-case hex of the same length -> outputs[tensor].digests[item]
    in_digest,  ///< the same for inputs
    value,      ///< JSON number -> outputs[tensor].value
    statistic,  ///< JSON number -> outputs[tensor].statistics[item]
  };
  Role role;
  std::uint32_t begin;  ///< byte offset in the line; for digests without the quotes
  std::uint32_t end;
  std::uint16_t tensor = 0;
  std::uint16_t item = 0;
};

/// What one line holds.
struct ParsedLine {
  enum class Kind : std::uint8_t { record, header, trailer, ignored };
  Kind kind = Kind::ignored;
  /// Valid for kind record; site.rank may be left to the stream. Of a trailer only `sequence` counts:
  /// how many records it says stand between the last header and it.
  Record record;
  std::vector<Span> spans;  ///< in ascending order
  /// False: the format leaves counting equal sites to the reader, which then sets site.occurrence.
  /// True: two records of one site and occurrence in one visit of an iteration are an error.
  bool occurrence_given = true;
};

/// Turns the lines of one JSON Lines format into records. One parser per stream.
class LineParser {
 public:
  virtual ~LineParser() = default;

  /// Parses one line (without its line end) into `out`, which is reused between calls: every field
  /// must be set. At least 64 readable bytes follow the text. The error's `where` is left
  /// empty (the stream fills in file:line); its message says what was expected and found.
  virtual Result<void> parse(std::string_view line, ParsedLine& out) = 0;

  /// True if `sequence` must strictly increase inside one file.
  [[nodiscard]] virtual bool ordered() const { return true; }

  /// Forgets what earlier lines said; called when the stream jumps.
  virtual void reset() {}
};

}  // namespace detdiff::formats
