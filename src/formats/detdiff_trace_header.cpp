#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "formats/detdiff_trace.hpp"
#include "formats/detdiff_trace_print.hpp"
#include "formats/json_fields.hpp"
#include "model/trace_format.hpp"

namespace detdiff::formats {
namespace {

using Node = JsonLine::Node;
using Kind = JsonToken::Kind;

constexpr std::array<std::string_view, 11> k_keys{
    "detdiff_trace", "tool",        "run_id",  "rank",    "world_size", "coordinates",
    "groups",        "environment", "digests", "content", "started"};
enum Key {
  detdiff_trace,
  tool,
  run_id,
  rank,
  world_size,
  coordinates,
  groups,
  environment,
  digests,
  content,
  started
};

class HeaderReader {
 public:
  explicit HeaderReader(JsonLine& line) : m_line(line) {
    collect(line, line.nodes()[0], k_keys, m_members);
    for (const Node*& node : m_members.known) {
      if (node != nullptr && node->token.kind == Kind::null) node = nullptr;
    }
  }

  Result<TraceHeader> read() {
    for (const auto part : {&HeaderReader::version, &HeaderReader::texts, &HeaderReader::ranks,
                            &HeaderReader::read_coordinates, &HeaderReader::read_groups,
                            &HeaderReader::read_environment, &HeaderReader::read_digests,
                            &HeaderReader::read_content}) {
      if (auto done = (this->*part)(); !done) return std::move(done).error();
    }
    return std::move(m_header);
  }

 private:
  [[nodiscard]] const Node* member(Key key) const { return m_members.known[key]; }

  /// Visits what is in the container of `key`, if it is there.
  template <class Visit>
  Result<void> each(Key key, Kind container, Visit visit) {
    const Node* node = member(key);
    if (node == nullptr) return {};
    if (node->token.kind != container) {
      return expected(k_keys[key], container == Kind::object ? "an object" : "a list", node);
    }
    return each_child(*node, visit);
  }

  template <class Visit>
  Result<void> each_child(const Node& node, Visit visit) {
    const auto& nodes = m_line.nodes();
    const auto first = static_cast<std::uint32_t>(&node - nodes.data()) + 1;
    for (std::uint32_t i = first; i != node.next; i = nodes[i].next) {
      if (Result<void> done = visit(nodes[i]); !done) return done;
    }
    return {};
  }

  Result<void> text(std::string_view key, const Node& node, std::string& out) {
    auto text = trace_text(m_line, key, node);
    if (!text) return std::move(text).error();
    out = *text;
    return {};
  }

  static Result<std::uint32_t> number(std::string_view key, const Node& node) {
    const auto value = unsigned_of(node);
    if (!value || *value > std::numeric_limits<std::uint32_t>::max()) {
      return expected(key, "an integer below 2^32", &node);
    }
    return static_cast<std::uint32_t>(*value);
  }

  Result<void> version() {
    auto version = count_of("detdiff_trace", member(detdiff_trace));
    if (!version) return std::move(version).error();
    if (*version > trace::version) {
      return Error{Errc::unsupported, "",
                   fmt::format("trace version {} is too new: this detdiff reads version {}",
                               *version, trace::version),
                   "update detdiff, or write the trace with the older version"};
    }
    if (*version == 0) return expected("detdiff_trace", "version 1", member(detdiff_trace));
    return {};
  }

  Result<void> texts() {
    for (const auto& [key, target] :
         {std::pair{run_id, &m_header.run_id}, {started, &m_header.started}}) {
      if (member(key) == nullptr) continue;
      if (auto done = text(k_keys[key], *member(key), *target); !done) return done;
    }
    return each(tool, Kind::object, [&](const Node& node) -> Result<void> {
      if (node.token.kind == Kind::null) return {};
      if (node.key == "name") return text("name", node, m_header.tool);
      if (node.key == "version") return text("version", node, m_header.tool_version);
      return {};
    });
  }

  Result<void> ranks() {
    for (const auto& [key, target] :
         {std::pair{rank, &m_header.rank}, {world_size, &m_header.world_size}}) {
      if (member(key) == nullptr) continue;
      auto value = number(k_keys[key], *member(key));
      if (!value) return std::move(value).error();
      *target = *value;
    }
    if (m_header.world_size == 0U) {
      return expected("world_size", "an integer from 1", member(world_size));
    }
    if (m_header.rank && m_header.world_size && *m_header.rank >= *m_header.world_size) {
      return expected("rank", fmt::format("a rank below world_size {}", *m_header.world_size),
                      member(rank));
    }
    return {};
  }

  Result<void> read_coordinates() {
    return each(coordinates, Kind::object, [&](const Node& node) -> Result<void> {
      auto value = count_of(node.key.substr(0, 80), &node);
      if (!value) return std::move(value).error();
      m_header.coordinates[std::string(node.key)] = static_cast<std::int64_t>(*value);
      return {};
    });
  }

  Result<void> read_groups() {
    return each(groups, Kind::object, [&](const Node& node) -> Result<void> {
      if (node.token.kind != Kind::array) return expected("groups", "lists of ranks", &node);
      auto& ranks = m_header.groups[std::string(node.key)];
      return each_child(node, [&](const Node& element) -> Result<void> {
        auto value = number("groups", element);
        if (!value) return std::move(value).error();
        ranks.push_back(*value);
        return {};
      });
    });
  }

  Result<void> read_environment() {
    return each(environment, Kind::object, [&](const Node& node) {
      return text(node.key.substr(0, 80), node, m_header.environment[std::string(node.key)]);
    });
  }

  Result<void> read_digests() {
    return each(digests, Kind::array, [&](const Node& node) -> Result<void> {
      if (node.token.kind != Kind::string) return expected("digests", "digest kinds", &node);
      const std::string_view name = m_line.text(node);
      const auto kind = parse_digest_kind(name);
      if (!kind) {
        return Error{Errc::unsupported, "",
                     fmt::format("digest kind \"{}\" is not known", name.substr(0, 80)),
                     "a newer detdiff may know it; digests of unknown kinds cannot be compared"};
      }
      m_header.digests.push_back(*kind);
      return {};
    });
  }

  Result<void> read_content() {
    const Node* node = member(content);
    if (node == nullptr) return {};
    if (node->token.kind != Kind::string) return expected("content", "a string", node);
    const std::string_view text = m_line.text(*node);
    m_header.metrics_only = text == "metrics";
    if (text != "metrics" && text != "tensors") {
      return Error{Errc::unsupported, "",
                   fmt::format("content \"{}\" is not known, expected tensors or metrics",
                               text.substr(0, 80)),
                   "a newer detdiff may know it"};
    }
    return {};
  }

  JsonLine& m_line;
  Members<k_keys.size()> m_members;
  TraceHeader m_header;
};

}  // namespace

Result<TraceHeader> parse_trace_header(JsonLine& line) { return HeaderReader(line).read(); }

}  // namespace detdiff::formats
