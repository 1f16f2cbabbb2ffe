#include "formats/json_fields.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace detdiff::formats {
namespace {

using Kind = JsonToken::Kind;

template <class T>
std::optional<T> integer(const JsonLine::Node& node) {
  if (node.token.kind != Kind::integer) return std::nullopt;
  T value{};
  const std::string_view raw = node.token.raw;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (error != std::errc{} || end != raw.data() + raw.size()) return std::nullopt;
  return value;
}

}  // namespace

Error expected(std::string_view key, std::string_view what, const JsonLine::Node* got) {
  if (got == nullptr) {
    return {Errc::damaged, "",
            fmt::format("expected {} in \"{}\", but the key is missing", what, key), ""};
  }
  return {Errc::damaged, "",
          fmt::format("expected {} in \"{}\", got {}", what, key, got->token.raw.substr(0, 80)), ""};
}

std::optional<std::uint64_t> unsigned_of(const JsonLine::Node& node) {
  return integer<std::uint64_t>(node);
}

Result<std::string_view> short_text_of(JsonLine& line, std::string_view key,
                                       const JsonLine::Node* node, std::size_t max_characters) {
  if (node == nullptr || node->token.kind != Kind::string) return expected(key, "a string", node);
  const std::string_view text = line.text(*node);
  std::size_t characters = 0;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return expected(key, "text without control characters", node);
    }
    characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  }
  if (characters > max_characters) {
    return Error{Errc::damaged, "",
                 fmt::format("expected at most {} characters in \"{}\", got {}", max_characters, key,
                             characters),
                 ""};
  }
  return text;
}

Result<bool> flag_of(std::string_view key, const JsonLine::Node* node) {
  if (node == nullptr || node->token.kind != Kind::boolean) return expected(key, "true or false", node);
  return node->token.raw == "true";
}

Result<std::uint64_t> count_of(std::string_view key, const JsonLine::Node* node) {
  const auto value = node == nullptr ? std::nullopt : unsigned_of(*node);
  if (!value || *value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return expected(key, "an integer from 0", node);
  }
  return *value;
}

Result<void> integers_of(const JsonLine& line, std::string_view key, const JsonLine::Node* node,
                         bool negative, std::vector<std::int64_t>& out) {
  out.clear();
  if (node == nullptr || node->token.kind != Kind::array) return expected(key, "a list", node);
  const auto& nodes = line.nodes();
  const auto first = static_cast<std::uint32_t>(node - nodes.data()) + 1;
  for (std::uint32_t i = first; i != node->next; i = nodes[i].next) {
    const auto value = integer<std::int64_t>(nodes[i]);
    if (!value || (*value < 0 && !negative)) {
      return expected(key, negative ? "integers" : "integers from 0", &nodes[i]);
    }
    out.push_back(*value);
  }
  return {};
}

}  // namespace detdiff::formats
