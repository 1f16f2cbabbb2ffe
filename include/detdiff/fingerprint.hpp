#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace detdiff {

/// How much "equal" proves, weakest first. The order is the meaning: comparisons with < are valid.
enum class Evidence : std::uint8_t {
  none,         ///< nothing was compared
  metadata,     ///< dtype and shape agree, no value was recorded
  rounded,      ///< printed digits agree
  statistics,   ///< mean, norm, extremes agree
  sampled,      ///< a digest over some of the elements agrees
  order_blind,  ///< a digest that cannot see a permutation agrees
  checksum,     ///< a 32-bit checksum agrees
  strong,       ///< a digest of all bits, or an exact value, agrees
};
inline constexpr std::size_t evidence_count = 8;

std::string_view to_string(Evidence evidence);
std::optional<Evidence> parse_evidence(std::string_view text);

/// How a digest was made. Digests of different kinds never compare: they are neither equal nor
/// different.
enum class DigestKind : std::uint8_t {
  sha256,
  sha1,
  md5,
  xxh3_128,
  xxh3_64,
  position_weighted_128,  ///< two weighted 64-bit sums (Megatron-LM PR 7262)
  crc32,
  xor64_f64,  ///< torch.hash_tensor mode 0: values widened to 64 bit, then xor
  xor64_raw,  ///< xor of raw words
  l1_f64,     ///< sum of magnitudes in double (DebugMode "norm")
};
inline constexpr std::size_t digest_kind_count = 10;

/// What is known about a digest kind.
struct DigestKindInfo {
  DigestKind kind;
  std::string_view name;   ///< as logs and reports spell it
  Evidence strength;       ///< what equality proves when the whole tensor was hashed
  std::size_t size;        ///< bytes
  std::string_view blind;  ///< what it cannot see, for the report; empty if nothing is known
};

/// All kinds, indexed by the enum's value.
std::span<const DigestKindInfo> digest_kinds();
const DigestKindInfo& info(DigestKind kind);
std::optional<DigestKind> parse_digest_kind(std::string_view name);

/// The digest of one tensor. `scope` says which part was hashed: 0 is all of it, anything else
/// identifies a subset (the set of sampled indices, a chunk); only equal kinds and scopes compare.
struct Digest {
  DigestKind kind = DigestKind::sha256;
  std::uint8_t size = 0;
  std::uint64_t scope = 0;
  bool sampled = false;  ///< `scope` is a sample: equality proves at most Evidence::sampled
  std::array<std::uint8_t, 32> bytes{};

  [[nodiscard]] Evidence strength() const { return sampled ? Evidence::sampled : info(kind).strength; }
  [[nodiscard]] std::string hex() const;
};

/// Reads 2*n hexadecimal digits, either case. Returns false, leaving `out` unspecified, if a
/// character is no hex digit or the length is odd or over 64.
bool parse_hex(std::string_view text, Digest& out);

/// A statistic of a tensor. Non-finite values are kept as such; NaN equals NaN here.
struct Statistic {
  std::string name;
  double value = 0;
};

/// The evidence about one tensor or one scalar. What is absent is absent, not zero.
struct Fingerprint {
  std::string tensor;  ///< role inside a call ("self", "out0"); empty when the site names it
  std::string dtype;   ///< "float32", "bfloat16", without a "torch." prefix; empty if unrecorded
  bool has_shape = false;
  std::vector<std::int64_t> shape;
  std::vector<Digest> digests;
  std::vector<Statistic> statistics;
  /// A scalar as canonical text (canonical_number), or "nan", "inf", "-inf"; absent for tensors.
  std::optional<std::string> value;
  /// Digits after the point (or significant digits) when `value` was rounded for printing, 0 if exact.
  int printed_digits = 0;
  bool view = false;           ///< the tensor shares storage with an input
  bool in_place = false;       ///< the tensor was written over an input
  bool uninitialised = false;  ///< stale memory: a difference means nothing
  bool asynchronous = false;   ///< hashed while a copy or collective may still have been writing

  /// True if anything about the values was recorded.
  [[nodiscard]] bool has_values() const { return value || !digests.empty() || !statistics.empty(); }
  /// What equality with an identical fingerprint would prove.
  [[nodiscard]] Evidence best_evidence() const;
};

/// Brings a JSON number to one text per value: integers as they are, other numbers as the shortest
/// text that reads back as the same double; "1.0" and "1" give "1". Returns the text unchanged if it
/// is no number.
std::string canonical_number(std::string_view text);

/// The outcome of holding two fingerprints against each other.
struct FingerprintMatch {
  enum class Outcome : std::uint8_t {
    equal,
    value,           ///< a digest, statistic or scalar differs
    dtype,           ///< element types differ
    shape,           ///< shapes differ
    not_comparable,  ///< both have values, but none of a common kind
    ignored,         ///< flagged uninitialised or asynchronous: not compared
  };
  Outcome outcome = Outcome::equal;
  Evidence evidence = Evidence::none;  ///< strongest kind both sides share
  std::optional<DigestKind> kind;      ///< the digest kind that gave `evidence`, if a digest did
  int printed_digits = 0;              ///< of the coarser side, if rounded values were compared
};

/// Compares dtype, shape, then every common digest, statistic and scalar; any that differs decides.
/// A side without values yields Evidence::metadata, never a difference.
FingerprintMatch match(const Fingerprint& a, const Fingerprint& b);

}  // namespace detdiff
