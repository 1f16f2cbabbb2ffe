#include <fmt/format.h>

#include <vector>

#include "report/sections.hpp"
#include "report/table.hpp"
#include "report/wording.hpp"

namespace detdiff::report {
namespace {

constexpr std::size_t k_digits_shown = 16;
constexpr std::size_t k_parts_shown = 3;

struct Sides {
  std::string a, b;
};

void add_part(std::string& out, const std::string& part) {
  if (part.empty()) return;
  if (!out.empty()) out += "  ";
  out += part;
}

std::string shortened(const std::string& hex, const std::string& other) {
  if (hex.size() <= k_digits_shown + 4) return hex;
  if (hex.compare(0, k_digits_shown, other, 0, k_digits_shown) == 0) return hex;
  return hex.substr(0, k_digits_shown) + "..";
}

const Json& same_digest(const Json& fingerprint, const Json& digest) {
  static const Json none = nullptr;
  for (const auto& one : list_of(fingerprint, "digests")) {
    if (field(one, "kind") == field(digest, "kind") &&
        field(one, "scope") == field(digest, "scope")) {
      return one;
    }
  }
  return none;
}

std::string digest_text(const Json& digest, const Json& other) {
  const std::string hex = text_of(digest, "hex");
  if (hex.empty()) return {};
  return fmt::format("{}{} {}", text_of(digest, "kind"),
                     flag_of(digest, "sampled") ? " of samples" : "",
                     shortened(hex, text_of(other, "hex")));
}

std::string more_text(std::size_t hidden, std::string_view noun) {
  return hidden == 0 ? std::string() : "and " + count_of(hidden, noun);
}

void add_digests(Sides& out, const Json& a, const Json& b) {
  std::size_t shown = 0;
  std::size_t hidden = 0;
  for (const auto& digest : list_of(a, "digests")) {
    const Json& other = same_digest(b, digest);
    if (other.is_null() || field(other, "hex") == field(digest, "hex")) continue;
    if (shown == k_parts_shown) {
      ++hidden;
      continue;
    }
    ++shown;
    add_part(out.a, digest_text(digest, other));
    add_part(out.b, digest_text(other, digest));
  }
  add_part(out.a, more_text(hidden, "more digest"));
  add_part(out.b, more_text(hidden, "more digest"));
}

void add_statistics(Sides& out, const Json& a, const Json& b) {
  std::size_t shown = 0;
  std::size_t hidden = 0;
  for (const auto& statistic : list_of(a, "statistics")) {
    const std::string name = text_of(statistic, "name");
    const std::string value = text_of(statistic, "value");
    for (const auto& other : list_of(b, "statistics")) {
      if (text_of(other, "name") != name || text_of(other, "value") == value) continue;
      if (shown == k_parts_shown) {
        ++hidden;
        continue;
      }
      ++shown;
      add_part(out.a, name + " " + value);
      add_part(out.b, name + " " + text_of(other, "value"));
    }
  }
  add_part(out.a, more_text(hidden, "more statistic"));
  add_part(out.b, more_text(hidden, "more statistic"));
}

std::string value_text(const Json& fingerprint) {
  const std::string value = text_of(fingerprint, "value");
  if (value.empty()) return {};
  const std::uint64_t digits = count_in(fingerprint, "printed_digits");
  return digits == 0 ? value : fmt::format("{} ({} printed digits)", value, digits);
}

// Something about one tensor where there is nothing to hold against it.
std::string alone_text(const Json& fingerprint) {
  std::string out = value_text(fingerprint);
  const Json& digest = element(field(fingerprint, "digests"), 0);
  if (digest.is_object()) add_part(out, digest_text(digest, nullptr));
  return out;
}

Sides tensor_sides(const Json& finding, const Json& differs) {
  const bool input = is(differs, "what", "input");
  const std::string_view key = input ? "inputs" : "outputs";
  const std::size_t index = count_in(differs, "index");
  const Json& list_a = field(field(finding, "a"), key);
  const Json& list_b = field(field(finding, "b"), key);
  const Json& a = element(list_a, index);
  const Json& b = element(list_b, index);
  Sides out;
  if (a.is_null() || b.is_null()) {
    const std::string noun = input ? "input" : "output";
    out.a = count_of(list_a.is_array() ? list_a.size() : 0, noun);
    out.b = count_of(list_b.is_array() ? list_b.size() : 0, noun);
    return out;
  }
  if (layout_text(a) != layout_text(b)) {
    out = {layout_text(a), layout_text(b)};
    return out;
  }
  const std::string value_a = value_text(a);
  const std::string value_b = value_text(b);
  if (value_a != value_b) out = {value_a, value_b};
  add_digests(out, a, b);
  add_statistics(out, a, b);
  if (out.a.empty() && out.b.empty()) out = {alone_text(a), alone_text(b)};
  return out;
}

std::string attribute_text(const Json& record, const std::string& name) {
  for (const auto& attribute : list_of(record, "attributes")) {
    if (text_of(attribute, "name") == name) return name + " " + text_of(attribute, "value");
  }
  return name + " absent";
}

std::string record_text(const Json& record) {
  std::string out = short_place(field(record, "site"));
  add_part(out, layout_text(element(field(record, "outputs"), 0)));
  return out;
}

Sides sides_of(const Json& finding) {
  const Json& a = field(finding, "a");
  const Json& b = field(finding, "b");
  if (!a.is_object()) return {"no such record", b.is_object() ? record_text(b) : std::string()};
  if (!b.is_object()) return {record_text(a), "no such record"};
  if (is(finding, "kind", "order")) return {record_text(a), record_text(b)};
  const Json& differs = field(finding, "differs");
  if (is(differs, "what", "attribute")) {
    const std::string name = text_of(differs, "attribute");
    return {attribute_text(a, name), attribute_text(b, name)};
  }
  if (differs.is_object()) return tensor_sides(finding, differs);
  return {record_text(a), record_text(b)};
}

}  // namespace

void add_sides(Page& page, const Json& finding) {
  const Sides sides = sides_of(finding);
  page.items({{"  A", sides.a, position_text(field(finding, "a"))},
              {"  B", sides.b, position_text(field(finding, "b"))}});
  const std::uint64_t extra = count_in(finding, "extra");
  if (extra == 0) return;
  page.item(
      "", fmt::format("and {} in {} after it, without counterpart", count_of(extra, "more record"),
                      field(finding, "a").is_object() ? "A" : "B"));
}

}  // namespace detdiff::report
