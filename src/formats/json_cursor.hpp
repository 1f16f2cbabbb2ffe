#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "detdiff/result.hpp"

namespace detdiff::formats {

/// One JSON value of a line: its kind and its exact text, a view into the line.
struct JsonToken {
  enum class Kind : std::uint8_t {
    null,
    boolean,
    integer,  ///< digits with an optional '-', fits std::int64_t or std::uint64_t
    number,   ///< any other number; finite as a double (too small ones round to zero)
    string,
    object,
    array,
  };
  Kind kind = Kind::null;
  std::string_view raw;  ///< exact bytes; strings with their quotes, containers with their brackets
};

/// A flat parse of one line: every object member and array element in document order. Reused
/// between lines without allocation.
///
/// The tokenizer is our own: simdjson's On-Demand front end (3.0.1) validates only what is asked
/// for, and its DOM front end keeps no positions; both lose the byte of an error. UTF-8 is checked
/// by simdjson; a fuzz target holds everything else against its DOM parser.
class JsonLine {
 public:
  struct Node {
    JsonToken token;
    std::string_view key;     ///< decoded key; empty for array elements and the root
    std::uint32_t depth = 0;  ///< 0 for the root
    std::uint32_t next =
        0;  ///< index of the next sibling (skips children); == end of parent if none
  };

  /// Levels of objects and arrays, the root included.
  static constexpr std::size_t max_depth = 1024;
  /// Values in one line; bounds the memory a hostile line can claim to 48 MiB.
  static constexpr std::size_t max_nodes = std::size_t{1} << 20;

  JsonLine();
  JsonLine(const JsonLine&) = delete;
  JsonLine& operator=(const JsonLine&) = delete;

  /// Parses `line`, behind which at least 64 bytes can be read. The line must outlive the nodes.
  ///
  /// Everything is validated, also what nobody asks for. Errors have an empty `where`; their
  /// messages count bytes of the line from 1. Errc::damaged: invalid JSON; a top level that is no
  /// object; a duplicate key in any object (named); a number past 64 bits or not finite (NaN,
  /// Infinity, 1e400); invalid UTF-8; a lone surrogate; a raw NUL or control character. An escaped
  /// one, "\u0000" included, is valid JSON and accepted. Errc::limit: more than max_depth levels,
  /// more than max_nodes values, a line of 4 GiB. After an error nodes() is empty.
  Result<void> parse(std::string_view line);

  /// The nodes of the last line; nodes()[0] is the root object.
  [[nodiscard]] const std::vector<Node>& nodes() const { return m_nodes; }

  /// Decoded text of a string node: points into the line if it has no escapes, else into this
  /// object's arena. Valid until the next parse.
  std::string_view text(const Node& string_node);

  /// Byte offset, from 0, of the node's first byte in the line.
  [[nodiscard]] std::uint32_t offset(const Node& node) const {
    return static_cast<std::uint32_t>(node.token.raw.data() - m_line.data());
  }

 private:
  class Walker;

  /// Decodes the inside of a valid string with escapes into the arena.
  std::string_view decode(std::string_view inside);

  std::string_view m_line;
  std::vector<Node> m_nodes;
  std::vector<std::uint32_t> m_open;     ///< containers not yet closed, outermost first
  std::vector<std::uint32_t> m_members;  ///< scratch of the duplicate check
  std::pmr::monotonic_buffer_resource m_arena;
};

/// Canonical JSON text of a subtree: keys sorted by their bytes, no whitespace, numbers by
/// canonical_number (too small ones as zero), text by append_json_string. Equal values give equal
/// text.
std::string canonical_json(JsonLine& line, std::uint32_t node);

}  // namespace detdiff::formats
