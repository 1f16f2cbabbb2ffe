#include "formats/megatron_trace.hpp"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "formats/json_fields.hpp"
#include "formats/name_levels.hpp"

namespace detdiff::formats {
namespace {

using Node = JsonLine::Node;
using Kind = JsonToken::Kind;

constexpr std::size_t k_max_text = 512;

__extension__ using Wide = unsigned __int128;  // i * (elements - 1) may pass 64 bits

constexpr std::array<std::string_view, 12> k_record_keys{
    "event", "iteration", "microbatch",     "name",     "occurrence", "phase",
    "rank",  "sequence",  "schema_version", "metadata", "tensor",     "fields"};
enum RecordKey { event, iteration, microbatch, name, occurrence, phase, rank, sequence,
                 schema_version, metadata, tensor, fields };

constexpr std::array<std::string_view, 15> k_tensor_keys{
    "device_type", "dtype", "layout", "mode", "numel", "requires_grad", "shape", "stride",
    "value_observed", "exact_value_certificate", "sha256", "captured_numel", "sample_indices",
    "all_finite", "summary"};
enum TensorKey { device_type, dtype, layout, mode, numel, requires_grad, shape, stride,
                 value_observed, exact_value_certificate, sha256, captured_numel, sample_indices,
                 all_finite, summary };

constexpr std::array<std::string_view, 5> k_summary_keys{"all_finite", "l2_norm", "maximum", "mean",
                                                         "minimum"};

class Parser final : public LineParser {
 public:
  Result<void> parse(std::string_view line, ParsedLine& out) override;

 private:
  Result<void> common(ParsedLine& out);
  Result<void> event_body(ParsedLine& out);
  Result<void> tensor_body(ParsedLine& out);
  Result<void> layout_of(Fingerprint& print, Record& record);
  Result<void> values_of(std::string_view text, Fingerprint& print, ParsedLine& out);
  Result<void> digest_of(bool sampled, Fingerprint& print, ParsedLine& out);
  Result<void> summary_of(Fingerprint& print, ParsedLine& out);
  Result<std::uint64_t> samples_of(std::uint64_t count);

  Result<std::string_view> text_of(std::string_view key, const Node* node) {
    return short_text_of(m_line, key, node, k_max_text);
  }
  void add_attribute(Record& record, std::string attribute, const Node& node) {
    record.attributes.push_back(
        {std::move(attribute),
         canonical_json(m_line, static_cast<std::uint32_t>(&node - m_line.nodes().data()))});
  }
  void add_members(Record& record, std::string_view prefix, const Node& object) {
    const auto& nodes = m_line.nodes();
    const auto first = static_cast<std::uint32_t>(&object - nodes.data()) + 1;
    for (std::uint32_t i = first; i != object.next; i = nodes[i].next) {
      add_attribute(record, fmt::format("{}.{}", prefix, nodes[i].key), nodes[i]);
    }
  }
  void add_span(ParsedLine& out, Span::Role role, const Node& node, std::size_t quotes = 0,
                std::size_t item = 0) {
    const std::uint32_t begin = m_line.offset(node);
    out.spans.push_back({role, begin + static_cast<std::uint32_t>(quotes),
                         begin + static_cast<std::uint32_t>(node.token.raw.size() - quotes), 0,
                         static_cast<std::uint16_t>(item)});
  }

  JsonLine m_line;
  Members<k_record_keys.size()> m_record;
  Members<k_tensor_keys.size()> m_tensor;
  Members<k_summary_keys.size()> m_summary;
  std::vector<std::int64_t> m_integers;
  std::vector<std::int64_t> m_samples;
};

Result<void> Parser::parse(std::string_view line, ParsedLine& out) {
  if (auto done = m_line.parse(line); !done) return done;
  out.kind = ParsedLine::Kind::record;
  out.occurrence_given = true;
  out.record = Record{};
  out.spans.clear();
  collect(m_line, m_line.nodes()[0], k_record_keys, m_record);
  if (auto done = common(out); !done) return done;
  auto kind = text_of("event", m_record.known[event]);
  if (!kind) return std::move(kind).error();
  if (*kind != "event" && *kind != "tensor") {
    return expected("event", "\"event\" or \"tensor\"", m_record.known[event]);
  }
  if (auto done = *kind == "tensor" ? tensor_body(out) : event_body(out); !done) return done;
  for (const Node* other : m_record.others) add_attribute(out.record, std::string(other->key), *other);
  std::sort(out.record.attributes.begin(), out.record.attributes.end(),
            [](const Attribute& a, const Attribute& b) { return a.name < b.name; });
  std::sort(out.spans.begin(), out.spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  return {};
}

Result<void> Parser::common(ParsedLine& out) {
  Record& record = out.record;
  auto version = count_of("schema_version", m_record.known[schema_version]);
  if (!version) return std::move(version).error();
  if (*version != 1) {
    return Error{Errc::unsupported, "", fmt::format("schema_version {} is not known", *version),
                 "this detdiff reads schema_version 1"};
  }
  for (const auto& [key, target] :
       {std::pair{iteration, &record.site.iteration}, {microbatch, &record.site.microbatch}}) {
    const Node* node = m_record.known[key];
    if (node != nullptr && node->token.kind == Kind::null) continue;
    auto value = count_of(k_record_keys[key], node);
    if (!value) return std::move(value).error();
    *target = static_cast<std::int64_t>(*value);
    if (key == iteration) add_span(out, Span::Role::iteration, *node);
  }
  for (const auto key : {occurrence, rank}) {
    auto value = count_of(k_record_keys[key], m_record.known[key]);
    if (!value) return std::move(value).error();
    if (*value > std::numeric_limits<std::uint32_t>::max()) {
      return expected(k_record_keys[key], "an integer below 2^32", m_record.known[key]);
    }
    if (key == rank) {
      record.site.rank = static_cast<std::uint32_t>(*value);
    } else {
      record.site.occurrence = static_cast<std::uint32_t>(*value);
    }
  }
  auto number = count_of("sequence", m_record.known[sequence]);
  if (!number) return std::move(number).error();
  record.sequence = *number;
  add_span(out, Span::Role::sequence, *m_record.known[sequence]);
  auto place = text_of("phase", m_record.known[phase]);
  if (!place) return std::move(place).error();
  record.site.phase = *place;
  auto own_name = text_of("name", m_record.known[name]);
  if (!own_name) return std::move(own_name).error();
  if (own_name->empty()) return expected("name", "a name", m_record.known[name]);
  split_name(*own_name, record.site);
  return {};
}

Result<void> Parser::event_body(ParsedLine& out) {
  const Node* body = m_record.known[fields];
  if (body == nullptr || body->token.kind != Kind::object) return expected("fields", "an object", body);
  for (const auto key : {metadata, tensor}) {
    if (m_record.known[key] != nullptr) {
      return Error{Errc::damaged, "",
                   fmt::format("expected no \"{}\" in an event", k_record_keys[key]), ""};
    }
  }
  Record& record = out.record;
  record.kind = RecordKind::event;
  constexpr std::array<std::string_view, 3> k_scalar_keys{"value", "finite", "nonfinite"};
  Members<3> scalar;
  collect(m_line, *body, k_scalar_keys, scalar);
  const auto [value, finite, nonfinite] = scalar.known;
  const bool number = value != nullptr && (value->token.kind == Kind::integer ||
                                           value->token.kind == Kind::number);
  Fingerprint print;
  if (number && finite == nullptr && nonfinite == nullptr && scalar.others.empty()) {
    print.value = canonical_number(value->token.raw);
    add_span(out, Span::Role::value, *value);
  } else if (value != nullptr && value->token.kind == Kind::null && nonfinite != nullptr &&
             nonfinite->token.kind == Kind::string && scalar.others.empty()) {
    const std::string_view text = m_line.text(*nonfinite);
    if (text != "nan" && text != "+inf" && text != "-inf") {
      return expected("nonfinite", "\"nan\", \"+inf\" or \"-inf\"", nonfinite);
    }
    print.value = text == "+inf" ? "inf" : std::string(text);
  }
  if (print.value) {
    record.kind = RecordKind::scalar;
    record.outputs.push_back(std::move(print));
  } else {
    add_members(record, "fields", *body);
  }
  return {};
}

Result<void> Parser::tensor_body(ParsedLine& out) {
  const Node* body = m_record.known[tensor];
  if (body == nullptr || body->token.kind != Kind::object) return expected("tensor", "an object", body);
  const Node* context = m_record.known[metadata];
  if (context == nullptr || context->token.kind != Kind::object) {
    return expected("metadata", "an object", context);
  }
  if (m_record.known[fields] != nullptr) {
    return Error{Errc::damaged, "", "expected no \"fields\" in a tensor record", ""};
  }
  Record& record = out.record;
  record.kind = RecordKind::boundary;
  record.outputs.emplace_back();
  Fingerprint& print = record.outputs.back();
  collect(m_line, *body, k_tensor_keys, m_tensor);
  if (auto done = layout_of(print, record); !done) return done;
  auto how = text_of("mode", m_tensor.known[mode]);
  if (!how) return std::move(how).error();
  if (auto done = values_of(*how, print, out); !done) return done;
  add_members(record, "metadata", *context);
  for (const Node* other : m_tensor.others) {
    add_attribute(record, fmt::format("tensor.{}", other->key), *other);
  }
  return {};
}

Result<void> Parser::layout_of(Fingerprint& print, Record& record) {
  auto type = text_of("dtype", m_tensor.known[dtype]);
  if (!type) return std::move(type).error();
  print.dtype = type->starts_with("torch.") ? type->substr(6) : *type;
  for (const auto key : {device_type, layout}) {
    if (auto text = text_of(k_tensor_keys[key], m_tensor.known[key]); !text) return std::move(text).error();
    add_attribute(record, std::string(k_tensor_keys[key]), *m_tensor.known[key]);
  }
  if (auto flag = flag_of("requires_grad", m_tensor.known[requires_grad]); !flag) {
    return std::move(flag).error();
  }
  add_attribute(record, "requires_grad", *m_tensor.known[requires_grad]);
  if (auto list = integers_of(m_line, "shape", m_tensor.known[shape], false, print.shape); !list) return list;
  print.has_shape = true;
  auto elements = count_of("numel", m_tensor.known[numel]);
  if (!elements) return std::move(elements).error();
  std::uint64_t product = 1;
  bool overflow = false;
  for (const std::int64_t extent : print.shape) {
    overflow |= __builtin_mul_overflow(product, static_cast<std::uint64_t>(extent), &product);
  }
  const bool empty = std::find(print.shape.begin(), print.shape.end(), 0) != print.shape.end();
  if (empty ? *elements != 0 : overflow || product != *elements) {
    return Error{Errc::damaged, "",
                 fmt::format("expected numel to be the product of the shape {}, got {}",
                             m_tensor.known[shape]->token.raw.substr(0, 80), *elements),
                 ""};
  }
  if (m_tensor.known[stride] != nullptr) {
    if (auto list = integers_of(m_line, "stride", m_tensor.known[stride], true, m_integers); !list) return list;
    if (m_integers.size() != print.shape.size()) {
      return Error{Errc::damaged, "",
                   fmt::format("expected {} strides for {} dimensions, got {}", print.shape.size(),
                               print.shape.size(), m_integers.size()),
                   ""};
    }
    add_attribute(record, "stride", *m_tensor.known[stride]);
  }
  return {};
}

Result<void> Parser::values_of(std::string_view text, Fingerprint& print, ParsedLine& out) {
  auto observed = flag_of("value_observed", m_tensor.known[value_observed]);
  if (!observed) return std::move(observed).error();
  auto exact = flag_of("exact_value_certificate", m_tensor.known[exact_value_certificate]);
  if (!exact) return std::move(exact).error();
  const bool is_metadata = text == "metadata";
  const bool is_summary = text == "summary";
  const bool is_sampled = text == "sampled";
  const bool is_full = text == "full";
  if (!is_metadata && !is_summary && !is_sampled && !is_full) {
    return expected("mode", "metadata, summary, sampled or full", m_tensor.known[mode]);
  }
  if (*observed == is_metadata || *exact != is_full) {
    return Error{Errc::damaged, "",
                 fmt::format("expected value_observed {} and exact_value_certificate {} in mode {}, got {} "
                             "and {}",
                             !is_metadata, is_full, text, *observed, *exact),
                 ""};
  }
  const std::array<std::pair<TensorKey, bool>, 4> allowed{
      {{sha256, is_sampled || is_full}, {captured_numel, is_sampled || is_full},
       {sample_indices, is_sampled}, {summary, is_summary}}};
  for (const auto& [key, may] : allowed) {
    if (m_tensor.known[key] != nullptr && !may) {
      return Error{Errc::damaged, "",
                   fmt::format("expected no \"{}\" in mode {}", k_tensor_keys[key], text), ""};
    }
  }
  if (is_summary) return summary_of(print, out);
  if (is_sampled || is_full) return digest_of(is_sampled, print, out);
  return {};
}

Result<void> Parser::digest_of(bool sampled, Fingerprint& print, ParsedLine& out) {
  const Node* node = m_tensor.known[sha256];
  Digest digest;
  if (node == nullptr || node->token.kind != Kind::string || m_line.text(*node).size() != 64 ||
      !parse_hex(m_line.text(*node), digest)) {
    return expected("sha256", "64 hex digits", node);
  }
  digest.kind = DigestKind::sha256;
  auto finite = flag_of("all_finite", m_tensor.known[all_finite]);
  if (!finite) return std::move(finite).error();
  auto captured = count_of("captured_numel", m_tensor.known[captured_numel]);
  if (!captured) return std::move(captured).error();
  const std::uint64_t elements = *unsigned_of(*m_tensor.known[numel]);
  if (sampled) {
    auto scope = samples_of(elements);
    if (!scope) return std::move(scope).error();
    digest.sampled = true;
    digest.scope = *scope;
    if (*captured != m_samples.size()) {
      return expected("captured_numel", "the number of sample_indices", m_tensor.known[captured_numel]);
    }
    print.statistics.push_back({"all_finite", *finite ? 1.0 : 0.0});
  } else if (*captured != elements) {
    return expected("captured_numel", "numel", m_tensor.known[captured_numel]);
  }
  // An escaped digest is not the text itself: such a line cannot be predicted.
  if (node->token.raw.size() == 66) add_span(out, Span::Role::digest, *node, 1);
  print.digests.push_back(digest);
  return {};
}

Result<std::uint64_t> Parser::samples_of(std::uint64_t elements) {
  if (auto list = integers_of(m_line, "sample_indices", m_tensor.known[sample_indices], false, m_samples); !list) {
    return std::move(list).error();
  }
  const std::size_t count = m_samples.size();
  bool even = count <= elements;
  for (std::size_t i = 0; even && i < count; ++i) {
    const std::uint64_t at = count == 1 ? 0
                                        : static_cast<std::uint64_t>(
                                              static_cast<Wide>(i) * (elements - 1) /
                                              (count - 1));
    even = static_cast<std::uint64_t>(m_samples[i]) == at;
  }
  if (!even || (count == 0 && elements != 0)) {
    return expected("sample_indices", "evenly spaced indices", m_tensor.known[sample_indices]);
  }
  const std::uint64_t scope = XXH3_64bits(m_samples.data(), count * sizeof(std::int64_t));
  return scope == 0 ? 1 : scope;
}

Result<void> Parser::summary_of(Fingerprint& print, ParsedLine& out) {
  const Node* node = m_tensor.known[summary];
  if (node == nullptr || node->token.kind != Kind::object) return expected("summary", "an object", node);
  collect(m_line, *node, k_summary_keys, m_summary);
  auto finite = flag_of("all_finite", m_summary.known[0]);
  if (!finite) return std::move(finite).error();
  print.statistics.push_back({"all_finite", *finite ? 1.0 : 0.0});
  for (std::size_t i = 1; i < k_summary_keys.size(); ++i) {
    const Node* value = m_summary.known[i];
    double number = std::numeric_limits<double>::quiet_NaN();
    if (value == nullptr || (value->token.kind != Kind::null && value->token.kind != Kind::integer &&
                             value->token.kind != Kind::number)) {
      return expected(k_summary_keys[i], "a number or null", value);
    }
    if (value->token.kind != Kind::null) {
      const std::string_view raw = value->token.raw;
      std::from_chars(raw.data(), raw.data() + raw.size(), number);
      add_span(out, Span::Role::statistic, *value, 0, print.statistics.size());
    }
    print.statistics.push_back({std::string(k_summary_keys[i]), number});
  }
  for (const Node* other : m_summary.others) {
    add_attribute(out.record, fmt::format("summary.{}", other->key), *other);
  }
  return {};
}

}  // namespace

std::unique_ptr<LineParser> make_megatron_trace_parser() { return std::make_unique<Parser>(); }

}  // namespace detdiff::formats
