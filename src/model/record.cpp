#include "detdiff/record.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace detdiff {
namespace {

// Collects length-delimited fields, so that ("ab","c") and ("a","bc") hash apart.
class KeyText {
 public:
  void text(std::string_view value) {
    number(value.size());
    m_bytes.append(value);
  }
  void number(std::uint64_t value) {
    m_bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  [[nodiscard]] std::uint64_t hash() const { return XXH3_64bits(m_bytes.data(), m_bytes.size()); }
  void clear() { m_bytes.clear(); }

 private:
  std::string m_bytes;
};

void add_layout(KeyText& key, const std::vector<Fingerprint>& tensors) {
  key.number(tensors.size());
  for (const auto& tensor : tensors) {
    key.text(tensor.tensor);
    key.text(tensor.dtype);
    key.number(tensor.has_shape ? tensor.shape.size() + 1 : 0);
    for (const std::int64_t extent : tensor.shape) key.number(static_cast<std::uint64_t>(extent));
  }
}

RecordMatch::Outcome outcome_of_attribute(std::string_view name) {
  if (name == "stride" || name == "layout" || name == "storage_offset") {
    return RecordMatch::Outcome::shape;
  }
  if (name == "requires_grad" || name == "device_type") return RecordMatch::Outcome::dtype;
  return RecordMatch::Outcome::value;
}

void compare_attributes(const Record& a, const Record& b, RecordMatch& result) {
  const std::size_t count = std::max(a.attributes.size(), b.attributes.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Attribute* x = i < a.attributes.size() ? &a.attributes[i] : nullptr;
    const Attribute* y = i < b.attributes.size() ? &b.attributes[i] : nullptr;
    if (x != nullptr && y != nullptr && *x == *y) continue;
    result.attribute = x == nullptr                ? y->name
                       : y == nullptr              ? x->name
                       : x->name <= y->name        ? x->name
                                                   : y->name;
    result.outcome = outcome_of_attribute(result.attribute);
    result.outputs_differ = true;
    return;
  }
}

struct Side {
  bool is_input;
  bool* differ;
};

void compare_tensors(const std::vector<Fingerprint>& a, const std::vector<Fingerprint>& b, Side side,
                     RecordMatch& result, EvidenceCounts& counts) {
  using Outcome = FingerprintMatch::Outcome;
  const auto found = [&](RecordMatch::Outcome outcome, std::size_t index) {
    *side.differ = true;
    // Outcomes are ordered dtype, shape, value; the gravest one names the tensor.
    if (result.outcome != RecordMatch::Outcome::equal && outcome >= result.outcome) return;
    result.outcome = outcome;
    result.tensor = index;
    result.tensor_is_input = side.is_input;
    result.attribute.clear();
  };
  const std::size_t count = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < count; ++i) {
    const FingerprintMatch one = match(a[i], b[i]);
    switch (one.outcome) {
      case Outcome::dtype: found(RecordMatch::Outcome::dtype, i); continue;
      case Outcome::shape: found(RecordMatch::Outcome::shape, i); continue;
      case Outcome::ignored: ++counts.ignored; continue;
      case Outcome::not_comparable:
        ++counts.not_comparable;
        result.not_comparable = true;
        continue;
      case Outcome::value: found(RecordMatch::Outcome::value, i); break;
      case Outcome::equal: break;
    }
    ++counts.tensors;
    ++counts.by_strength[static_cast<std::size_t>(one.evidence)];
    if (one.kind) ++counts.by_kind[static_cast<std::size_t>(*one.kind)];
    counts.note_digits(one.printed_digits);
  }
  if (a.size() != b.size()) found(RecordMatch::Outcome::shape, count);
}

}  // namespace

std::string_view to_string(RecordKind kind) {
  switch (kind) {
    case RecordKind::call: return "call";
    case RecordKind::boundary: return "boundary";
    case RecordKind::scalar: return "scalar";
    case RecordKind::event: return "event";
  }
  return "";
}

void seal(Record& record) {
  thread_local KeyText key;
  key.clear();
  const Site& site = record.site;
  // A scalar that once is text or has another field is the same event with other content.
  key.number(static_cast<std::uint64_t>(record.kind == RecordKind::scalar ? RecordKind::event : record.kind));
  key.number(site.microbatch ? static_cast<std::uint64_t>(*site.microbatch) + 1 : 0);
  key.text(site.phase);
  key.text(site.module);
  key.text(site.operation);
  key.text(site.kernel);
  key.text(site.tensor);
  key.text(site.name);
  key.text(record.group);
  key.number(record.recompute ? 1 : 0);
  record.keys.identity = key.hash();

  add_layout(key, record.inputs);
  add_layout(key, record.outputs);
  record.keys.token = key.hash();

  key.number(record.inputs_recorded ? 1 : 0);
  for (const auto& attribute : record.attributes) {
    key.text(attribute.name);
    key.text(attribute.value);
  }
  record.keys.content = key.hash();
}

EvidenceCounts& EvidenceCounts::operator+=(const EvidenceCounts& other) {
  tensors += other.tensors;
  ignored += other.ignored;
  not_comparable += other.not_comparable;
  note_digits(other.printed_digits);
  for (std::size_t i = 0; i < by_strength.size(); ++i) by_strength[i] += other.by_strength[i];
  for (std::size_t i = 0; i < by_kind.size(); ++i) by_kind[i] += other.by_kind[i];
  return *this;
}

Evidence EvidenceCounts::weakest() const {
  for (std::size_t i = 0; i < by_strength.size(); ++i) {
    if (by_strength[i] != 0) return static_cast<Evidence>(i);
  }
  return Evidence::none;
}

RecordMatch compare_records(const Record& a, const Record& b, EvidenceCounts& counts) {
  RecordMatch result;
  if (a.kind != b.kind) {
    result.outcome = RecordMatch::Outcome::value;
    result.outputs_differ = true;
    result.attribute = "value";
    return result;
  }
  compare_tensors(a.outputs, b.outputs, {false, &result.outputs_differ}, result, counts);
  if (a.inputs_recorded && b.inputs_recorded) {
    compare_tensors(a.inputs, b.inputs, {true, &result.inputs_differ}, result, counts);
  }
  if (a.keys.content != b.keys.content && result.outcome != RecordMatch::Outcome::dtype) {
    RecordMatch attributes;
    compare_attributes(a, b, attributes);
    const bool graver = result.outcome == RecordMatch::Outcome::equal ||
                        attributes.outcome < result.outcome;
    if (attributes.outcome != RecordMatch::Outcome::equal) {
      result.outputs_differ = true;
      if (graver) {
        result.outcome = attributes.outcome;
        result.attribute = attributes.attribute;
      }
    }
  }
  return result;
}

}  // namespace detdiff
