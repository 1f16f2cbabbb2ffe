#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "detdiff/result.hpp"
#include "formats/json_cursor.hpp"

namespace detdiff::formats {

// Typed access to the members of a parsed line. Each returns an Error without `where` that names the
// key, what was expected and what was found; a null node is a missing key.

/// "expected WHAT in "KEY", got ...", or that the key is missing.
Error expected(std::string_view key, std::string_view what, const JsonLine::Node* got);

/// The value of an integer token that fits, absent for anything else ("1.0", "-1", true).
std::optional<std::uint64_t> unsigned_of(const JsonLine::Node& node);

/// Text of at most `max_characters` without control characters.
Result<std::string_view> short_text_of(JsonLine& line, std::string_view key,
                                       const JsonLine::Node* node, std::size_t max_characters);

Result<bool> flag_of(std::string_view key, const JsonLine::Node* node);

/// An integer from 0 to 2^63-1.
Result<std::uint64_t> count_of(std::string_view key, const JsonLine::Node* node);

/// A list of 64-bit integers, from 0 unless `negative`.
Result<void> integers_of(const JsonLine& line, std::string_view key, const JsonLine::Node* node,
                         bool negative, std::vector<std::int64_t>& out);

/// The members of an object: those whose keys are known, by their place in the list, and the others
/// in document order.
template <std::size_t N>
struct Members {
  std::array<const JsonLine::Node*, N> known{};
  std::vector<const JsonLine::Node*> others;
};

template <std::size_t N>
void collect(const JsonLine& line, const JsonLine::Node& object,
             const std::array<std::string_view, N>& keys, Members<N>& out) {
  out.known.fill(nullptr);
  out.others.clear();
  const auto& nodes = line.nodes();
  const auto first = static_cast<std::uint32_t>(&object - nodes.data()) + 1;
  for (std::uint32_t i = first; i != object.next; i = nodes[i].next) {
    const auto found = std::find(keys.begin(), keys.end(), nodes[i].key);
    if (found == keys.end()) {
      out.others.push_back(&nodes[i]);
    } else {
      out.known[static_cast<std::size_t>(found - keys.begin())] = &nodes[i];
    }
  }
}

}  // namespace detdiff::formats
