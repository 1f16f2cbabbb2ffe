#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace detdiff::report {

/// The document model of a report. Members keep the order in which they were written.
using Json = nlohmann::ordered_json;

/// Reading a report that may come from anywhere: a member that is absent or of another type reads
/// as absent. Nothing here throws.

/// The member `key` of `object`, null where there is none.
const Json& field(const Json& object, std::string_view key);

/// An element of `array`, null past its end.
const Json& element(const Json& array, std::size_t index);

/// The text of `key`, escaped for a terminal; empty where absent. The only way in which text of a
/// report reaches an output of ours.
std::string text_of(const Json& object, std::string_view key);

/// The same for a value.
std::string text_of(const Json& value);

/// The text of `key` compared as it is.
bool is(const Json& object, std::string_view key, std::string_view text);

/// A whole number that fits 64 bits with a sign.
std::optional<std::int64_t> integer_of(const Json& object, std::string_view key);

/// A count; 0 where absent or negative.
std::uint64_t count_in(const Json& object, std::string_view key);

/// True only for a true.
bool flag_of(const Json& object, std::string_view key);

/// A document as every command prints it: indented, in plain ASCII, with a line end, and without
/// anything in it that a CI system would take for a command.
std::string json_text(const Json& document);

/// Iterates over the elements of an array; empty for anything else.
const Json& list_of(const Json& object, std::string_view key);

}  // namespace detdiff::report
