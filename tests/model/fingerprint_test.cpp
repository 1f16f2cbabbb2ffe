#include "detdiff/fingerprint.hpp"

#include <cmath>
#include <limits>

#include "detdiff/record.hpp"
#include "support/catch.hpp"
#include "support/make_run.hpp"

using namespace detdiff;
using Outcome = FingerprintMatch::Outcome;

namespace {

Fingerprint with_digest(DigestKind kind, const std::string& hex, std::uint64_t scope = 0) {
  Fingerprint print;
  print.dtype = "float32";
  Digest digest;
  digest.kind = kind;
  digest.scope = scope;
  digest.sampled = scope != 0;
  REQUIRE(parse_hex(hex, digest));
  print.digests.push_back(digest);
  return print;
}

Fingerprint scalar(const std::string& value, int digits = 0) {
  Fingerprint print;
  print.value = value;
  print.printed_digits = digits;
  return print;
}

}  // namespace

TEST_CASE("digests compare only within one kind and scope", "[fingerprint]") {
  const auto sha = with_digest(DigestKind::sha256, std::string(64, 'a'));
  const auto other = with_digest(DigestKind::sha256, std::string(64, 'b'));
  const auto xored = with_digest(DigestKind::xor64_f64, "0000000000000001");
  const auto samples = with_digest(DigestKind::sha256, std::string(64, 'a'), 7);
  CHECK(match(sha, sha).outcome == Outcome::equal);
  CHECK(match(sha, sha).evidence == Evidence::strong);
  CHECK(match(sha, other).outcome == Outcome::value);
  CHECK(match(sha, xored).outcome == Outcome::not_comparable);
  CHECK(match(sha, samples).outcome == Outcome::not_comparable);
  CHECK(match(samples, samples).evidence == Evidence::sampled);
  CHECK(match(xored, xored).evidence == Evidence::order_blind);
}

TEST_CASE("a side without values proves its metadata only", "[fingerprint]") {
  Fingerprint bare;
  bare.dtype = "float32";
  const auto sha = with_digest(DigestKind::sha256, std::string(64, 'a'));
  CHECK(match(bare, sha).outcome == Outcome::equal);
  CHECK(match(bare, sha).evidence == Evidence::metadata);
  CHECK(match(Fingerprint{}, Fingerprint{}).evidence == Evidence::none);
}

TEST_CASE("any common evidence that differs decides", "[fingerprint]") {
  auto a = with_digest(DigestKind::xor64_f64, "0000000000000001");
  auto b = a;
  a.statistics = {{"mean", 1.0}};
  b.statistics = {{"mean", 2.0}};
  CHECK(match(a, b).outcome == Outcome::value);
  // Equal bits outrank a float reduction over them.
  auto x = with_digest(DigestKind::sha256, std::string(64, 'a'));
  auto y = x;
  x.statistics = {{"mean", 1.0}};
  y.statistics = {{"mean", 1.0000001}};
  CHECK(match(x, y).outcome == Outcome::equal);
}

TEST_CASE("statistics compare by bits, NaN equals NaN", "[fingerprint]") {
  Fingerprint a;
  a.statistics = {{"mean", std::nan("")}, {"max", 0.0}};
  Fingerprint b = a;
  CHECK(match(a, b).outcome == Outcome::equal);
  CHECK(match(a, b).evidence == Evidence::statistics);
  b.statistics[1].value = -0.0;
  CHECK(match(a, b).outcome == Outcome::value);
}

TEST_CASE("scalars compare as numbers, at the coarser precision", "[fingerprint]") {
  CHECK(match(scalar("1.5"), scalar("1.50")).outcome == Outcome::equal);
  CHECK(match(scalar("1.5"), scalar("1.5")).evidence == Evidence::strong);
  CHECK(match(scalar("1.5", 5), scalar("1.5", 5)).evidence == Evidence::rounded);
  CHECK(match(scalar("9.550479888916016"), scalar("9.55048", 5)).outcome == Outcome::equal);
  CHECK(match(scalar("9.550479888916016"), scalar("9.55049", 5)).outcome == Outcome::value);
  CHECK(match(scalar("nan"), scalar("nan")).outcome == Outcome::equal);
  CHECK(match(scalar("nan"), scalar("1")).outcome == Outcome::value);
}

TEST_CASE("numbers have one text each", "[fingerprint]") {
  CHECK(canonical_number("1.0") == "1");
  CHECK(canonical_number("1e0") == "1");
  CHECK(canonical_number("0.10") == "0.1");
  CHECK(canonical_number("-0") == "0");
  CHECK(canonical_number("-0.0") == "-0.0");
  CHECK(canonical_number("9223372036854775807") == "9223372036854775807");
  CHECK(canonical_number("1.2345678901234567e300") == "1.2345678901234567e+300");
  CHECK(canonical_number("text") == "text");
}

TEST_CASE("uninitialised and asynchronous tensors are not compared", "[fingerprint]") {
  auto a = with_digest(DigestKind::sha256, std::string(64, 'a'));
  auto b = with_digest(DigestKind::sha256, std::string(64, 'b'));
  a.uninitialised = true;
  CHECK(match(a, b).outcome == Outcome::ignored);
  a.uninitialised = false;
  b.asynchronous = true;
  CHECK(match(a, b).outcome == Outcome::ignored);
}

TEST_CASE("names of evidence and digests read back", "[fingerprint]") {
  for (std::size_t i = 0; i < evidence_count; ++i) {
    const auto evidence = static_cast<Evidence>(i);
    CHECK(parse_evidence(to_string(evidence)) == evidence);
  }
  for (const auto& entry : digest_kinds()) {
    CHECK(parse_digest_kind(entry.name) == entry.kind);
    CHECK(info(entry.kind).name == entry.name);
    CHECK(entry.size <= 32);
  }
  CHECK_FALSE(parse_digest_kind("sha512"));
}

TEST_CASE("records are equal exactly if identity and content are", "[record]") {
  const auto sealed = [](const std::string& line) {
    Record record = test::make_record(line);
    seal(record);
    return record;
  };
  const Record base = sealed("1 f x 01 attr=1");
  EvidenceCounts counts;
  CHECK(compare_records(base, sealed("1 f x 01 attr=1"), counts).outcome == RecordMatch::Outcome::equal);
  const auto attribute = compare_records(base, sealed("1 f x 01 attr=2"), counts);
  CHECK(attribute.outcome == RecordMatch::Outcome::value);
  CHECK(attribute.attribute == "x");
  CHECK(compare_records(base, sealed("1 f x 02 attr=1"), counts).outcome == RecordMatch::Outcome::value);
  CHECK(counts.tensors == 3);
  // Iteration and occurrence place a record, they are not part of what it is.
  CHECK(base.keys.identity == sealed("2 f x 01 occ=3 attr=1").keys.identity);
  CHECK(base.keys.identity != sealed("1 g x 01 attr=1").keys.identity);
  CHECK(base.keys.identity != sealed("1 f x 01 mb=0 attr=1").keys.identity);
}
