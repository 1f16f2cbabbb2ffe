#include "formats/detdiff_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "formats/detdiff_trace_print.hpp"
#include "formats/json_fields.hpp"
#include "model/trace_format.hpp"

namespace detdiff::formats {
namespace {

using Node = JsonLine::Node;
using Kind = JsonToken::Kind;

constexpr std::array<std::string_view, 20> k_keys{
    "detdiff_trace", "end",       "records",   "kind",    "sequence",   "iteration", "microbatch",
    "phase",         "module",    "operation", "kernel",  "tensor",     "name",      "occurrence",
    "group",         "recompute", "inputs",    "outputs", "attributes", "notes"};
enum Key {
  detdiff_trace,
  end,
  records,
  kind,
  sequence,
  iteration,
  microbatch,
  phase,
  module,
  operation,
  kernel,
  tensor,
  name,
  occurrence,
  group,
  recompute,
  inputs,
  outputs,
  attributes,
  notes
};

class Parser final : public LineParser {
 public:
  Result<void> parse(std::string_view line, ParsedLine& out) override;
  [[nodiscard]] bool ordered() const override { return m_numbered.value_or(false); }
  void reset() override;

 private:
  /// Where the parser stands in the file.
  enum class Place { start, segment, behind_trailer };

  Result<void> header();
  Result<void> trailer(ParsedLine& out);
  Result<void> record(ParsedLine& out);
  Result<void> kind_of(Record& record);
  Result<void> numbers_of(ParsedLine& out);
  Result<void> texts_of(Record& record);
  Result<void> tensors_of(ParsedLine& out);
  Result<void> attributes_of(Record& record);

  [[nodiscard]] const Node* member(Key key) const { return m_members.known[key]; }
  [[nodiscard]] std::uint32_t index_of(const Node& node) const {
    return static_cast<std::uint32_t>(&node - m_line.nodes().data());
  }
  void add_span(ParsedLine& out, Span::Role role, const Node& node) const {
    const std::uint32_t begin = m_line.offset(node);
    out.spans.push_back({role, begin, begin + static_cast<std::uint32_t>(node.token.raw.size())});
  }

  JsonLine m_line;
  Members<k_keys.size()> m_members;
  Place m_place = Place::start;
  bool m_rank_known = false;  ///< a header was read, m_rank is what it says
  std::optional<std::uint32_t> m_rank;
  std::optional<bool> m_numbered;  ///< whether the records of this segment have a sequence
};

void Parser::reset() {
  m_place = Place::segment;
  m_numbered.reset();
}

Result<void> Parser::parse(std::string_view line, ParsedLine& out) {
  out.kind = ParsedLine::Kind::ignored;
  out.record = Record{};
  out.spans.clear();
  if (auto done = m_line.parse(line); !done) return done;
  collect(m_line, m_line.nodes()[0], k_keys, m_members);
  for (const Node*& node : m_members.known) {
    if (node != nullptr && node->token.kind == Kind::null) node = nullptr;
  }
  if (member(detdiff_trace) != nullptr) {
    out.kind = ParsedLine::Kind::header;
    return header();
  }
  if (m_place != Place::segment) {
    return Error{Errc::damaged, "",
                 fmt::format("expected a header with \"detdiff_trace\" {}",
                             m_place == Place::start ? "in the first line" : "behind a trailer"),
                 ""};
  }
  if (member(end) != nullptr) {
    out.kind = ParsedLine::Kind::trailer;
    return trailer(out);
  }
  out.kind = ParsedLine::Kind::record;
  return record(out);
}

Result<void> Parser::header() {
  auto header = parse_trace_header(m_line);
  if (!header) return std::move(header).error();
  if (m_rank_known && header->rank != m_rank) {
    const auto text = [](std::optional<std::uint32_t> rank) {
      return rank ? fmt::format("rank {}", *rank) : std::string("no rank");
    };
    return Error{Errc::damaged, "",
                 fmt::format("expected {} in the header of another segment, got {}", text(m_rank),
                             text(header->rank)),
                 "a file holds the records of one rank; were two files joined?"};
  }
  m_rank_known = true;
  m_rank = header->rank;
  m_place = Place::segment;
  m_numbered.reset();
  return {};
}

Result<void> Parser::trailer(ParsedLine& out) {
  if (member(end)->token.raw != "true") return expected("end", "true", member(end));
  auto count = count_of("records", member(records));
  if (!count) return std::move(count).error();
  out.record.sequence = *count;
  m_place = Place::behind_trailer;
  return {};
}

Result<void> Parser::record(ParsedLine& out) {
  Record& record = out.record;
  record.site.rank = m_rank;
  if (auto done = kind_of(record); !done) return done;
  if (auto done = numbers_of(out); !done) return done;
  if (auto done = texts_of(record); !done) return done;
  if (auto done = tensors_of(out); !done) return done;
  if (auto done = attributes_of(record); !done) return done;
  std::sort(out.spans.begin(), out.spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  return {};
}

Result<void> Parser::kind_of(Record& record) {
  const Node* node = member(kind);
  if (node == nullptr || node->token.kind != Kind::string) {
    return expected("kind", "the kind of a record", node);
  }
  const std::string_view text = m_line.text(*node);
  for (const RecordKind known :
       {RecordKind::call, RecordKind::boundary, RecordKind::scalar, RecordKind::event}) {
    if (text != to_string(known)) continue;
    record.kind = known;
    return {};
  }
  return Error{Errc::unsupported, "",
               fmt::format("kind \"{}\" is not known, expected call, boundary, scalar or event",
                           text.substr(0, 80)),
               "a newer detdiff may know it"};
}

Result<void> Parser::numbers_of(ParsedLine& out) {
  Record& record = out.record;
  for (const auto& [key, target] :
       {std::pair{iteration, &record.site.iteration}, {microbatch, &record.site.microbatch}}) {
    if (member(key) == nullptr) continue;
    auto value = count_of(k_keys[key], member(key));
    if (!value) return std::move(value).error();
    *target = static_cast<std::int64_t>(*value);
    if (key == iteration) add_span(out, Span::Role::iteration, *member(key));
  }
  out.occurrence_given = member(occurrence) != nullptr;
  if (out.occurrence_given) {
    const auto value = unsigned_of(*member(occurrence));
    if (!value || *value > std::numeric_limits<std::uint32_t>::max()) {
      return expected("occurrence", "an integer below 2^32", member(occurrence));
    }
    record.site.occurrence = static_cast<std::uint32_t>(*value);
  }
  if (member(recompute) != nullptr) {
    auto flag = flag_of("recompute", member(recompute));
    if (!flag) return std::move(flag).error();
    record.recompute = *flag;
  }
  const bool numbered = member(sequence) != nullptr;
  if (m_numbered.value_or(numbered) != numbered) {
    return Error{Errc::damaged, "",
                 fmt::format("expected {} as in the record before",
                             numbered ? "no \"sequence\"" : "a \"sequence\""),
                 "either all records behind a header are numbered or none is"};
  }
  m_numbered = numbered;
  if (!numbered) return {};
  auto number = count_of("sequence", member(sequence));
  if (!number) return std::move(number).error();
  record.sequence = *number;
  add_span(out, Span::Role::sequence, *member(sequence));
  return {};
}

Result<void> Parser::texts_of(Record& record) {
  Site& site = record.site;
  const std::array<std::pair<Key, std::string*>, 7> targets{{{phase, &site.phase},
                                                             {module, &site.module},
                                                             {operation, &site.operation},
                                                             {kernel, &site.kernel},
                                                             {tensor, &site.tensor},
                                                             {name, &site.name},
                                                             {group, &record.group}}};
  for (const auto& [key, target] : targets) {
    if (member(key) == nullptr) continue;
    auto text = trace_text(m_line, k_keys[key], *member(key));
    if (!text) return std::move(text).error();
    *target = *text;
  }
  std::string implied = trace::default_name(site);
  if (implied.empty() && site.name.empty()) {
    return Error{Errc::damaged, "",
                 "expected a \"name\", \"module\", \"operation\", \"kernel\" or \"tensor\"", ""};
  }
  if (site.name.empty()) site.name = std::move(implied);
  return {};
}

Result<void> Parser::tensors_of(ParsedLine& out) {
  Record& record = out.record;
  record.inputs_recorded = member(inputs) != nullptr;
  if (record.kind == RecordKind::event) {
    for (const Key key : {inputs, outputs}) {
      if (member(key) == nullptr) continue;
      return Error{Errc::damaged, "", fmt::format("expected no \"{}\" in an event", k_keys[key]),
                   ""};
    }
    return {};
  }
  if (member(inputs) != nullptr) {
    auto done =
        read_fingerprints(m_line, "inputs", *member(inputs), true, record.inputs, out.spans);
    if (!done) return done;
  }
  if (member(outputs) != nullptr) {
    auto done =
        read_fingerprints(m_line, "outputs", *member(outputs), false, record.outputs, out.spans);
    if (!done) return done;
  }
  if (record.inputs.size() + record.outputs.size() > trace::max_fingerprints) {
    return Error{Errc::limit, "",
                 fmt::format("expected at most {} fingerprints in a record, got {}",
                             trace::max_fingerprints, record.inputs.size() + record.outputs.size()),
                 ""};
  }
  if (record.kind != RecordKind::call && record.outputs.size() != 1) {
    return expected("outputs", fmt::format("one fingerprint in a {}", to_string(record.kind)),
                    member(outputs));
  }
  if (record.kind == RecordKind::scalar && !record.outputs[0].value) {
    return expected("outputs", "a \"value\" in a scalar", member(outputs));
  }
  return {};
}

Result<void> Parser::attributes_of(Record& record) {
  for (const Key key : {attributes, notes}) {
    const Node* node = member(key);
    if (node == nullptr) continue;
    if (node->token.kind != Kind::object) return expected(k_keys[key], "an object", node);
    const auto& nodes = m_line.nodes();
    for (std::uint32_t i = index_of(*node) + 1; i != node->next; i = nodes[i].next) {
      if (nodes[i].key.size() > trace::max_text_bytes) {
        return Error{Errc::limit, "",
                     fmt::format("expected names of at most {} bytes in \"{}\"",
                                 trace::max_text_bytes, k_keys[key]),
                     ""};
      }
      if (key == attributes) {
        record.attributes.push_back({std::string(nodes[i].key), canonical_json(m_line, i)});
      }
    }
  }
  std::sort(record.attributes.begin(), record.attributes.end(),
            [](const Attribute& a, const Attribute& b) { return a.name < b.name; });
  return {};
}

}  // namespace

std::unique_ptr<LineParser> make_detdiff_trace_parser() { return std::make_unique<Parser>(); }

}  // namespace detdiff::formats
