// Holds JsonLine against simdjson's DOM parser: it accepts exactly what that accepts, apart from
// the refusals its header lists, and then both see the same tree.

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "formats/json_cursor.hpp"
#include "model/json_text.hpp"

namespace {

using detdiff::formats::canonical_json;
using detdiff::formats::JsonLine;
using detdiff::formats::JsonToken;
using simdjson::dom::element_type;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_json_cursor: %s\n", what);
  std::abort();
}

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

// True if something in an accepted tree is what JsonLine refuses beyond the DOM parser.
bool has_extra_refusal(simdjson::dom::element element) {
  switch (element.type()) {
    case element_type::STRING:
      return !is_utf8(element.get_string().value());  // a lone surrogate
    case element_type::ARRAY: {
      const simdjson::dom::array array = element.get_array();
      for (const simdjson::dom::element child : array) {
        if (has_extra_refusal(child)) return true;
      }
      return false;
    }
    case element_type::OBJECT: {
      std::set<std::string_view> keys;
      const simdjson::dom::object object = element.get_object();
      for (const auto& field : object) {
        if (!is_utf8(field.key) || !keys.insert(field.key).second) return true;
        if (has_extra_refusal(field.value)) return true;
      }
      return false;
    }
    default:
      return false;
  }
}

void require_number(const JsonToken& token, simdjson::dom::element element) {
  const std::string text(token.raw);
  switch (element.type()) {
    case element_type::INT64:
      require(token.kind == JsonToken::Kind::integer, "integer expected");
      require(std::strtoll(text.c_str(), nullptr, 10) == element.get_int64().value(), "int64");
      return;
    case element_type::UINT64:
      require(token.kind == JsonToken::Kind::integer, "integer expected");
      require(std::strtoull(text.c_str(), nullptr, 10) == element.get_uint64().value(), "uint64");
      return;
    case element_type::DOUBLE: {
      require(token.kind == JsonToken::Kind::number, "number expected");
      const double ours = std::strtod(text.c_str(), nullptr);
      const double theirs = element.get_double().value();
      require(std::memcmp(&ours, &theirs, sizeof ours) == 0, "double");
      return;
    }
    default:
      require(false, "not a number");
  }
}

// Compares the subtree of node `index`; returns the index behind it.
std::uint32_t require_same(JsonLine& line, std::uint32_t index, std::uint32_t depth,
                           simdjson::dom::element element) {
  const JsonLine::Node& node = line.nodes()[index];
  require(node.depth == depth, "depth");
  std::uint32_t next = index + 1;
  switch (node.token.kind) {
    case JsonToken::Kind::null:
      require(element.is_null() && node.token.raw == "null", "null");
      break;
    case JsonToken::Kind::boolean:
      require(element.is_bool(), "boolean expected");
      require(node.token.raw == (element.get_bool().value() ? "true" : "false"), "boolean");
      break;
    case JsonToken::Kind::integer:
    case JsonToken::Kind::number:
      require_number(node.token, element);
      break;
    case JsonToken::Kind::string:
      require(element.is_string(), "string expected");
      require(line.text(node) == element.get_string().value(), "string");
      require(node.token.raw.front() == '"' && node.token.raw.back() == '"', "quotes");
      break;
    case JsonToken::Kind::array: {
      require(element.is_array(), "array expected");
      require(node.token.raw.front() == '[' && node.token.raw.back() == ']', "brackets");
      const simdjson::dom::array array = element.get_array();
      for (const simdjson::dom::element child : array) {
        require(next < node.next && line.nodes()[next].key.empty(), "array element");
        next = require_same(line, next, depth + 1, child);
      }
      break;
    }
    case JsonToken::Kind::object: {
      require(element.is_object(), "object expected");
      require(node.token.raw.front() == '{' && node.token.raw.back() == '}', "braces");
      const simdjson::dom::object object = element.get_object();
      for (const auto& field : object) {
        require(next < node.next && line.nodes()[next].key == field.key, "member");
        next = require_same(line, next, depth + 1, field.value);
      }
      break;
    }
  }
  require(node.next == next, "next");
  return next;
}

void require_canonical(JsonLine& line) {
  const std::string canonical = canonical_json(line, 0);
  const bool deep = std::any_of(line.nodes().begin(), line.nodes().end(),
                                [](const JsonLine::Node& node) { return node.depth >= 1022; });
  require(deep || detdiff::is_canonical_json(canonical), "not canonical");
  const std::string padded = canonical + std::string(simdjson::SIMDJSON_PADDING, ' ');
  JsonLine again;
  require(again.parse(std::string_view(padded).substr(0, canonical.size())).ok(), "canonical text");
  require(canonical_json(again, 0) == canonical, "canonical text changes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static JsonLine line;
  static simdjson::dom::parser parser;
  // DOM counts one level less than it names.
  static const bool ready =
      parser.allocate(std::size_t{1} << 20, JsonLine::max_depth + 1) == simdjson::SUCCESS;
  require(ready, "allocate");
  if (size > (std::size_t{1} << 20)) return 0;

  std::string text(reinterpret_cast<const char*>(data), size);
  const bool byte_order_mark = text.starts_with("\xef\xbb\xbf");  // newer versions skip it
  text.resize(size + simdjson::SIMDJSON_PADDING + 64, '"');
  const std::string_view view = std::string_view(text).substr(0, size);

  const auto ours = line.parse(view);
  simdjson::dom::element root;
  const bool theirs = parser.parse(text.data(), size, false).get(root) == simdjson::SUCCESS;
  if (!ours) {
    require(ours.error().where.empty() && !ours.error().message.empty(), "error text");
    require(line.nodes().empty(), "nodes after an error");
    require(!theirs || byte_order_mark || !root.is_object() || has_extra_refusal(root),
            ours.error().message.c_str());
    return 0;
  }
  require(theirs, "accepted what the DOM parser refuses");
  require(require_same(line, 0, 0, root) == line.nodes().size(), "count");
  require_canonical(line);
  return 0;
}
