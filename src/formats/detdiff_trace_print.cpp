#include "formats/detdiff_trace_print.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "formats/json_fields.hpp"
#include "model/trace_format.hpp"

namespace detdiff::formats {
namespace {

using Node = JsonLine::Node;
using Kind = JsonToken::Kind;

constexpr std::array<std::string_view, 8> k_print_keys{"tensor", "dtype", "shape",  "digests",
                                                       "stats",  "value", "digits", "flags"};
enum PrintKey { tensor, dtype, shape, digests, stats, value, digits, flags };

constexpr std::array<std::string_view, 4> k_digest_keys{"kind", "hex", "scope", "sampled"};
enum DigestKey { kind, hex, scope, sampled };

std::uint32_t index_of(const JsonLine& line, const Node& node) {
  return static_cast<std::uint32_t>(&node - line.nodes().data());
}

Error over_limit(std::size_t limit, std::string_view what, std::string_view key) {
  return {Errc::limit, "",
          fmt::format("expected at most {} {} in \"{}\", got more", limit, what, key)};
}

double to_double(std::string_view raw) {
  double number = 0;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), number);
  // Only a number too small for a double is out of range: JsonLine refuses one too large.
  if (error == std::errc::result_out_of_range) return raw.front() == '-' ? -0.0 : 0.0;
  return number;
}

bool is_number(const Node& node) {
  return node.token.kind == Kind::integer || node.token.kind == Kind::number;
}

class PrintReader {
 public:
  PrintReader(JsonLine& line, bool inputs, std::vector<Span>& spans)
      : m_line(line), m_inputs(inputs), m_spans(spans) {}

  Result<void> list(std::string_view key, const Node& node, std::vector<Fingerprint>& out);

 private:
  Result<void> print(const Node& node, Fingerprint& out);
  Result<void> texts(Fingerprint& out);
  Result<void> digest_list(const Node& node, Fingerprint& out);
  Result<void> listed_digest(const Node& node, Fingerprint& out);
  Result<void> digest(std::string_view name, const Node& node, std::uint64_t part, bool is_sampled,
                      Fingerprint& out);
  Result<void> statistics(const Node& node, Fingerprint& out);
  Result<void> number(const Node& node, Fingerprint& out);
  Result<void> flag_list(const Node& node, Fingerprint& out);

  void add_span(Span::Role role, const Node& node, std::uint32_t quotes, std::size_t item) {
    const std::uint32_t begin = m_line.offset(node);
    m_spans.push_back({role, begin + quotes,
                       begin + static_cast<std::uint32_t>(node.token.raw.size()) - quotes,
                       static_cast<std::uint16_t>(m_tensor), static_cast<std::uint16_t>(item)});
  }

  template <class Visit>
  Result<void> each(const Node& parent, Visit visit) {
    const auto& nodes = m_line.nodes();
    for (std::uint32_t i = index_of(m_line, parent) + 1; i != parent.next; i = nodes[i].next) {
      if (Result<void> done = visit(nodes[i]); !done) return done;
    }
    return {};
  }

  JsonLine& m_line;
  bool m_inputs;
  std::vector<Span>& m_spans;
  std::size_t m_tensor = 0;
  Members<k_print_keys.size()> m_members;
};

Result<void> PrintReader::list(std::string_view key, const Node& node,
                               std::vector<Fingerprint>& out) {
  if (node.token.kind != Kind::array) return expected(key, "a list of fingerprints", &node);
  return each(node, [&](const Node& element) -> Result<void> {
    if (element.token.kind != Kind::object) return expected(key, "objects", &element);
    if (out.size() == trace::max_fingerprints) {
      return over_limit(trace::max_fingerprints, "fingerprints", key);
    }
    m_tensor = out.size();
    out.emplace_back();
    return print(element, out.back());
  });
}

Result<void> PrintReader::print(const Node& node, Fingerprint& out) {
  collect(m_line, node, k_print_keys, m_members);
  for (const Node*& member : m_members.known) {
    if (member != nullptr && member->token.kind == Kind::null) member = nullptr;
  }
  const auto& known = m_members.known;
  if (auto done = texts(out); !done) return done;
  if (known[shape] != nullptr) {
    if (auto done = integers_of(m_line, "shape", known[shape], false, out.shape); !done)
      return done;
    if (out.shape.size() > trace::max_dimensions) {
      return over_limit(trace::max_dimensions, "dimensions", "shape");
    }
    out.has_shape = true;
  }
  if (known[digests] != nullptr) {
    if (auto done = digest_list(*known[digests], out); !done) return done;
  }
  if (known[stats] != nullptr) {
    if (auto done = statistics(*known[stats], out); !done) return done;
  }
  if (known[value] != nullptr) {
    if (auto done = number(*known[value], out); !done) return done;
  }
  if (known[digits] != nullptr) {
    const auto count = unsigned_of(*known[digits]);
    if (!count || *count > static_cast<std::uint64_t>(trace::max_printed_digits)) {
      return expected("digits", fmt::format("an integer up to {}", trace::max_printed_digits),
                      known[digits]);
    }
    out.printed_digits = static_cast<int>(*count);
  }
  return known[flags] == nullptr ? Result<void>{} : flag_list(*known[flags], out);
}

Result<void> PrintReader::texts(Fingerprint& out) {
  for (const auto& [key, target] : {std::pair{tensor, &out.tensor}, {dtype, &out.dtype}}) {
    if (m_members.known[key] == nullptr) continue;
    auto text = trace_text(m_line, k_print_keys[key], *m_members.known[key]);
    if (!text) return std::move(text).error();
    *target = *text;
  }
  while (out.dtype.starts_with(trace::dtype_prefix)) out.dtype.erase(0, trace::dtype_prefix.size());
  return {};
}

Result<void> PrintReader::digest_list(const Node& node, Fingerprint& out) {
  if (node.token.kind == Kind::object) {
    return each(node,
                [&](const Node& member) { return digest(member.key, member, 0, false, out); });
  }
  if (node.token.kind != Kind::array) return expected("digests", "an object or a list", &node);
  return each(node, [&](const Node& element) { return listed_digest(element, out); });
}

Result<void> PrintReader::listed_digest(const Node& node, Fingerprint& out) {
  if (node.token.kind != Kind::object) return expected("digests", "objects", &node);
  Members<k_digest_keys.size()> members;
  collect(m_line, node, k_digest_keys, members);
  const auto& known = members.known;
  if (known[kind] == nullptr || known[kind]->token.kind != Kind::string) {
    return expected("kind", "the kind of a digest", known[kind]);
  }
  if (known[hex] == nullptr) return expected("hex", "hex digits", known[hex]);
  std::uint64_t part = 0;
  if (known[scope] != nullptr) {
    const auto given = unsigned_of(*known[scope]);
    if (!given) return expected("scope", "an integer from 0", known[scope]);
    part = *given;
  }
  bool is_sampled = false;
  if (known[sampled] != nullptr) {
    auto given = flag_of("sampled", known[sampled]);
    if (!given) return std::move(given).error();
    is_sampled = *given;
  }
  return digest(m_line.text(*known[kind]), *known[hex], part, is_sampled, out);
}

Result<void> PrintReader::digest(std::string_view name, const Node& node, std::uint64_t part,
                                 bool is_sampled, Fingerprint& out) {
  const auto known = parse_digest_kind(name);
  if (!known) {
    return Error{Errc::unsupported, "",
                 fmt::format("digest kind \"{}\" is not known", name.substr(0, 80)),
                 "a newer detdiff may know it; digests of unknown kinds cannot be compared"};
  }
  if (out.digests.size() == trace::max_digests) {
    return over_limit(trace::max_digests, "digests", "digests");
  }
  Digest digest;
  digest.kind = *known;
  digest.scope = part;
  digest.sampled = is_sampled;
  const std::size_t size = info(*known).size;
  const bool string = node.token.kind == Kind::string;
  const std::string_view text = string ? m_line.text(node) : std::string_view();
  if (text.size() != 2 * size || !parse_hex(text, digest)) {
    return expected(name, fmt::format("{} hex digits", 2 * size), &node);
  }
  // Digits written as escapes are not the text itself: such a line cannot be predicted.
  if (node.token.raw.size() == 2 * size + 2) {
    add_span(m_inputs ? Span::Role::in_digest : Span::Role::digest, node, 1, out.digests.size());
  }
  out.digests.push_back(digest);
  return {};
}

Result<void> PrintReader::statistics(const Node& node, Fingerprint& out) {
  if (node.token.kind != Kind::object) return expected("stats", "an object", &node);
  return each(node, [&](const Node& member) -> Result<void> {
    if (out.statistics.size() == trace::max_statistics) {
      return over_limit(trace::max_statistics, "statistics", "stats");
    }
    if (member.key.size() > trace::max_text_bytes) {
      return over_limit(trace::max_text_bytes, "bytes of a name", "stats");
    }
    double number = 0;
    if (is_number(member)) {
      number = to_double(member.token.raw);
      if (!m_inputs) add_span(Span::Role::statistic, member, 0, out.statistics.size());
    } else {
      constexpr double infinity = std::numeric_limits<double>::infinity();
      const std::string_view raw = member.token.raw;
      if (raw == R"("nan")") {
        number = std::numeric_limits<double>::quiet_NaN();
      } else if (raw == R"("inf")" || raw == R"("-inf")") {
        number = raw == R"("inf")" ? infinity : -infinity;
      } else {
        return expected(member.key.substr(0, 80), R"(a number, "nan", "inf" or "-inf")", &member);
      }
    }
    out.statistics.push_back({std::string(member.key), number});
    return {};
  });
}

Result<void> PrintReader::number(const Node& node, Fingerprint& out) {
  if (is_number(node)) {
    out.value = canonical_json(m_line, index_of(m_line, node));
    if (!m_inputs) add_span(Span::Role::value, node, 0, 0);
    return {};
  }
  const std::string_view raw = node.token.raw;
  if (raw != R"("nan")" && raw != R"("inf")" && raw != R"("-inf")") {
    return expected("value", R"(a number, "nan", "inf" or "-inf")", &node);
  }
  out.value = raw.substr(1, raw.size() - 2);
  return {};
}

Result<void> PrintReader::flag_list(const Node& node, Fingerprint& out) {
  if (node.token.kind != Kind::array) return expected("flags", "a list", &node);
  return each(node, [&](const Node& element) -> Result<void> {
    if (element.token.kind != Kind::string) return expected("flags", "strings", &element);
    const std::string_view flag = m_line.text(element);
    if (flag == "view") {
      out.view = true;
    } else if (flag == "in_place") {
      out.in_place = true;
    } else if (flag == "uninitialised") {
      out.uninitialised = true;
    } else if (flag == "asynchronous") {
      out.asynchronous = true;
    } else {
      return Error{Errc::unsupported, "",
                   fmt::format("flag \"{}\" is not known", flag.substr(0, 80)),
                   "a newer detdiff may know it"};
    }
    return {};
  });
}

}  // namespace

Result<std::string_view> trace_text(JsonLine& line, std::string_view key,
                                    const JsonLine::Node& node) {
  if (node.token.kind != Kind::string) return expected(key, "a string", &node);
  const std::string_view text = line.text(node);
  if (text.size() > trace::max_text_bytes) {
    return over_limit(trace::max_text_bytes, "bytes of text", key);
  }
  return text;
}

Result<void> read_fingerprints(JsonLine& line, std::string_view key, const JsonLine::Node& node,
                               bool inputs, std::vector<Fingerprint>& out,
                               std::vector<Span>& spans) {
  return PrintReader(line, inputs, spans).list(key, node, out);
}

}  // namespace detdiff::formats
