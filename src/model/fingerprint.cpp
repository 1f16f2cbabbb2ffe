#include "detdiff/fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace detdiff {
namespace {

constexpr std::array<std::string_view, evidence_count> k_evidence_names{
    "none", "metadata", "rounded", "statistics", "sampled", "order_blind", "checksum", "strong"};

constexpr std::string_view k_xor_blind =
    "a permutation of elements, the sign of zero, or equal values that cancel in pairs";

constexpr std::array<DigestKindInfo, digest_kind_count> k_digest_kinds{{
    {DigestKind::sha256, "sha256", Evidence::strong, 32, ""},
    {DigestKind::sha1, "sha1", Evidence::strong, 20, ""},
    {DigestKind::md5, "md5", Evidence::strong, 16, ""},
    {DigestKind::xxh3_128, "xxh3-128", Evidence::strong, 16, ""},
    {DigestKind::xxh3_64, "xxh3-64", Evidence::strong, 8, ""},
    {DigestKind::position_weighted_128, "position-weighted-128", Evidence::strong, 16, ""},
    {DigestKind::crc32, "crc32", Evidence::checksum, 4, "one change in four billion, by chance"},
    {DigestKind::xor64_f64, "xor64-f64", Evidence::order_blind, 8, k_xor_blind},
    {DigestKind::xor64_raw, "xor64-raw", Evidence::order_blind, 8, k_xor_blind},
    {DigestKind::l1_f64, "l1-f64", Evidence::order_blind, 8,
     "a permutation of elements, or any change of signs"},
}};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool same_number(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::optional<double> to_double(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// 0 is exact.
int coarser_digits(const Fingerprint& a, const Fingerprint& b) {
  if (a.printed_digits == 0) return b.printed_digits;
  if (b.printed_digits == 0) return a.printed_digits;
  return std::min(a.printed_digits, b.printed_digits);
}

// Values printed with different precision agree if the finer one rounds to the coarser one.
bool same_value(const Fingerprint& a, const Fingerprint& b) {
  if (*a.value == *b.value) return true;
  if (a.printed_digits == b.printed_digits) return canonical_number(*a.value) == canonical_number(*b.value);
  const auto x = to_double(*a.value);
  const auto y = to_double(*b.value);
  if (!x || !y) return false;
  const int digits = coarser_digits(a, b);
  return fmt::format("{:.{}f}", *x, digits) == fmt::format("{:.{}f}", *y, digits);
}

void raise(FingerprintMatch& match, Evidence evidence, std::optional<DigestKind> kind) {
  if (evidence <= match.evidence) return;
  match.evidence = evidence;
  match.kind = kind;
}

}  // namespace

std::string_view to_string(Evidence evidence) {
  return k_evidence_names[static_cast<std::size_t>(evidence)];
}

std::optional<Evidence> parse_evidence(std::string_view text) {
  const auto found = std::find(k_evidence_names.begin(), k_evidence_names.end(), text);
  if (found == k_evidence_names.end()) return std::nullopt;
  return static_cast<Evidence>(found - k_evidence_names.begin());
}

std::span<const DigestKindInfo> digest_kinds() { return k_digest_kinds; }

const DigestKindInfo& info(DigestKind kind) {
  return k_digest_kinds[static_cast<std::size_t>(kind)];
}

std::optional<DigestKind> parse_digest_kind(std::string_view name) {
  for (const auto& entry : k_digest_kinds) {
    if (entry.name == name) return entry.kind;
  }
  return std::nullopt;
}

std::string Digest::hex() const {
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string text;
  text.reserve(size * std::size_t{2});
  for (std::size_t i = 0; i < size; ++i) {
    text += k_digits[bytes[i] >> 4];
    text += k_digits[bytes[i] & 15];
  }
  return text;
}

bool parse_hex(std::string_view text, Digest& out) {
  if (text.size() % 2 != 0 || text.size() > out.bytes.size() * 2) return false;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]);
    const int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return false;
    out.bytes[i / 2] = static_cast<std::uint8_t>(high * 16 + low);
  }
  out.size = static_cast<std::uint8_t>(text.size() / 2);
  return true;
}

Evidence Fingerprint::best_evidence() const {
  Evidence best = has_shape || !dtype.empty() ? Evidence::metadata : Evidence::none;
  if (!statistics.empty()) best = Evidence::statistics;
  if (value) best = std::max(best, printed_digits == 0 ? Evidence::strong : Evidence::rounded);
  for (const auto& digest : digests) best = std::max(best, digest.strength());
  return best;
}

std::string canonical_number(std::string_view text) {
  if (text.empty()) return {};
  const std::string_view digits = text.front() == '-' ? text.substr(1) : text;
  const bool integer = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
  if (integer) return text == "-0" ? "0" : std::string(text);
  const auto value = to_double(std::string(text));
  if (!value || !std::isfinite(*value)) return std::string(text);
  if (*value == 0) return std::signbit(*value) ? "-0.0" : "0";
  // 2^53: below it a double that is whole stands for one integer only.
  if (*value == std::trunc(*value) && std::abs(*value) < 9007199254740992.0) {
    return fmt::format("{}", static_cast<std::int64_t>(*value));
  }
  return fmt::format("{}", *value);
}

FingerprintMatch match(const Fingerprint& a, const Fingerprint& b) {
  using Outcome = FingerprintMatch::Outcome;
  FingerprintMatch result;
  if (!a.dtype.empty() && !b.dtype.empty() && a.dtype != b.dtype) {
    result.outcome = Outcome::dtype;
    return result;
  }
  if (a.has_shape && b.has_shape && a.shape != b.shape) {
    result.outcome = Outcome::shape;
    return result;
  }
  if (a.uninitialised || b.uninitialised || a.asynchronous || b.asynchronous) {
    result.outcome = Outcome::ignored;
    return result;
  }
  if (!a.dtype.empty() || a.has_shape) result.evidence = Evidence::metadata;

  bool differ = false;
  for (std::size_t i = 0; i < a.digests.size(); ++i) {
    const Digest& x = a.digests[i];
    const auto same_kind = [&x](const Digest& y) { return y.kind == x.kind && y.scope == x.scope; };
    const Digest* y = i < b.digests.size() && same_kind(b.digests[i]) ? &b.digests[i] : nullptr;
    if (y == nullptr) {
      const auto found = std::find_if(b.digests.begin(), b.digests.end(), same_kind);
      if (found == b.digests.end()) continue;
      y = &*found;
    }
    raise(result, x.strength(), x.kind);
    if (x.size != y->size || std::memcmp(x.bytes.data(), y->bytes.data(), x.size) != 0) differ = true;
  }
  if (a.value && b.value) {
    const bool exact = a.printed_digits == 0 && b.printed_digits == 0;
    result.printed_digits = coarser_digits(a, b);
    raise(result, exact ? Evidence::strong : Evidence::rounded, std::nullopt);
    if (!same_value(a, b)) differ = true;
  }
  // Equal bits outrank a statistic: mean and norm are float reductions and may differ on their own.
  if (result.evidence < Evidence::strong || differ) {
    for (const auto& x : a.statistics) {
      for (const auto& y : b.statistics) {
        if (x.name != y.name) continue;
        // Both finite says next to nothing; one finite and one not says everything.
        if (x.name != "all_finite") raise(result, Evidence::statistics, std::nullopt);
        if (!same_number(x.value, y.value)) differ = true;
      }
    }
  }
  if (differ) {
    result.outcome = Outcome::value;
  } else if (result.evidence <= Evidence::metadata && a.has_values() && b.has_values()) {
    result.outcome = Outcome::not_comparable;
  }
  return result;
}

}  // namespace detdiff
