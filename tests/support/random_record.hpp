#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "detdiff/record.hpp"
#include "model/trace_format.hpp"

namespace detdiff::test {

/// The seed of a random test: DETDIFF_TEST_SEED if that is set, else another one every time. Print
/// it with CAPTURE.
inline std::uint64_t random_seed() {
  const char* given = std::getenv("DETDIFF_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

inline bool same_number(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

inline bool same_fingerprint(const Fingerprint& a, const Fingerprint& b) {
  const auto same_digest = [](const Digest& x, const Digest& y) {
    return x.kind == y.kind && x.size == y.size && x.scope == y.scope && x.sampled == y.sampled &&
           x.bytes == y.bytes;
  };
  const auto same_statistic = [](const Statistic& x, const Statistic& y) {
    return x.name == y.name && same_number(x.value, y.value);
  };
  return a.tensor == b.tensor && a.dtype == b.dtype && a.has_shape == b.has_shape &&
         a.shape == b.shape && a.value == b.value && a.printed_digits == b.printed_digits &&
         a.view == b.view && a.in_place == b.in_place && a.uninitialised == b.uninitialised &&
         a.asynchronous == b.asynchronous &&
         std::equal(a.digests.begin(), a.digests.end(), b.digests.begin(), b.digests.end(),
                    same_digest) &&
         std::equal(a.statistics.begin(), a.statistics.end(), b.statistics.begin(),
                    b.statistics.end(), same_statistic);
}

/// True if two records are the same in all that a trace holds: not where they stand, not in keys.
inline bool same_record(const Record& a, const Record& b) {
  const auto same_list = [](const std::vector<Fingerprint>& x, const std::vector<Fingerprint>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_fingerprint);
  };
  return a.kind == b.kind && a.site == b.site && a.group == b.group &&
         a.inputs_recorded == b.inputs_recorded && same_list(a.inputs, b.inputs) &&
         same_list(a.outputs, b.outputs) && a.attributes == b.attributes &&
         a.recompute == b.recompute && a.sequence == b.sequence;
}

/// Makes records of every form that a trace can hold.
class RandomRecords {
 public:
  explicit RandomRecords(std::uint64_t seed) : m_random(seed) {}

  std::uint64_t below(std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(m_random);
  }
  bool once_in(std::uint64_t n) { return below(n) == 0; }

  /// Valid UTF-8 of up to 24 characters, more rarely long; none of it is spared.
  std::string text() {
    constexpr std::array<std::string_view, 14> odd{"\"",           "\\",   "/", "\n", "\x01",
                                                   "\x1f",         "\x7f", "é", "€",  "😀",
                                                   "\xef\xbf\xbf", " ",    "{", "%"};
    std::string out;
    const std::size_t size = once_in(200) ? 2000 : below(24);
    for (std::size_t i = 0; i < size; ++i) {
      if (once_in(30)) {
        out += '\0';
      } else if (once_in(4)) {
        out += odd[below(odd.size())];
      } else {
        out += static_cast<char>('a' + below(26));
      }
    }
    return out;
  }

  double number() {
    switch (below(8)) {
      case 0:
        return std::numeric_limits<double>::quiet_NaN();
      case 1:
        return once_in(2) ? HUGE_VAL : -HUGE_VAL;
      case 2:
        return once_in(2) ? 0.0 : -0.0;
      case 3:
        return static_cast<double>(below(1000));
      case 4:
        return std::numeric_limits<double>::denorm_min();
      default:
        return std::bit_cast<double>(m_random());
    }
  }

  /// A value as Fingerprint keeps it.
  std::string value() {
    if (once_in(4)) return canonical_number(std::to_string(m_random()));
    const double real = number();
    if (std::isnan(real)) return "nan";
    if (std::isinf(real)) return real > 0 ? "inf" : "-inf";
    std::array<char, 40> digits{};
    std::snprintf(digits.data(), digits.size(), "%.17g", real);
    return canonical_number(digits.data());
  }

  Digest digest() {
    Digest digest;
    digest.kind = static_cast<DigestKind>(below(digest_kind_count));
    digest.size = static_cast<std::uint8_t>(info(digest.kind).size);
    for (std::size_t i = 0; i < digest.size; ++i) {
      digest.bytes[i] = static_cast<std::uint8_t>(m_random());
    }
    if (once_in(3)) digest.scope = m_random();
    digest.sampled = once_in(4);
    return digest;
  }

  Fingerprint fingerprint() {
    Fingerprint print;
    if (once_in(2)) print.tensor = text();
    if (once_in(2)) print.dtype = "float" + std::to_string(below(64));
    print.has_shape = once_in(2);
    if (print.has_shape) {
      print.shape.resize(below(once_in(50) ? trace::max_dimensions + 1 : 5));
      for (auto& extent : print.shape) extent = static_cast<std::int64_t>(m_random() >> 1);
    }
    print.digests.resize(below(3));
    for (auto& digest : print.digests) digest = this->digest();
    std::set<std::string> names;
    for (std::size_t i = below(3); i != 0; --i) names.insert(text());
    for (const auto& name : names) print.statistics.push_back({name, number()});
    if (once_in(3)) print.value = value();
    if (once_in(5)) print.printed_digits = static_cast<int>(below(trace::max_printed_digits + 1));
    print.view = once_in(5);
    print.in_place = once_in(5);
    print.uninitialised = once_in(5);
    print.asynchronous = once_in(5);
    return print;
  }

  /// Sorted, with values in canonical form.
  std::vector<Attribute> attributes() {
    constexpr std::array<std::string_view, 8> values{
        "null",
        "true",
        "-7",
        "1.5",
        R"("é\n\u0000\"")",
        "[]",
        R"([1,{"a":{}},"x"])",
        R"({"a":18446744073709551615,"b":[null,false]})"};
    std::set<std::string> names;
    for (std::size_t i = below(4); i != 0; --i) names.insert(text());
    std::vector<Attribute> out;
    for (const auto& name : names) out.push_back({name, std::string(values[below(values.size())])});
    return out;
  }

  /// Without rank and sequence.
  Record record() {
    Record record;
    record.kind = static_cast<RecordKind>(below(4));
    Site& site = record.site;
    for (auto* level : {&site.iteration, &site.microbatch}) {
      if (!once_in(3)) *level = static_cast<std::int64_t>(once_in(3) ? m_random() >> 1 : below(3));
    }
    for (auto* level : {&site.phase, &site.module, &site.operation, &site.kernel, &site.tensor}) {
      if (once_in(2)) *level = text();
    }
    site.name = once_in(2) ? trace::default_name(site) : text();
    if (site.name.empty()) site.name = trace::default_name(site) + "x";
    if (once_in(3)) site.occurrence = static_cast<std::uint32_t>(m_random());
    if (once_in(3)) record.group = text();
    record.recompute = once_in(4);
    record.attributes = attributes();
    if (record.kind == RecordKind::event) return record;
    record.inputs_recorded = once_in(2);
    if (record.inputs_recorded) record.inputs.resize(below(4));
    record.outputs.resize(record.kind == RecordKind::call ? below(4) : 1);
    for (auto& print : record.inputs) print = fingerprint();
    for (auto& print : record.outputs) print = fingerprint();
    if (record.kind == RecordKind::scalar) record.outputs[0].value = value();
    return record;
  }

 private:
  std::mt19937_64 m_random;
};

}  // namespace detdiff::test
