#include "compare/offset.hpp"

#include <bit>
#include <map>
#include <unordered_map>
#include <vector>

#include "compare/align.hpp"
#include "model/interrupt.hpp"

namespace detdiff::compare {
namespace {

constexpr std::uint64_t k_prefix = 16;

struct Signature {
  std::int64_t iteration;
  std::uint64_t prefix = 0;
  std::uint64_t whole = 0;
  std::uint64_t valued = 0;
};

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  return (std::rotl(hash, 5) ^ word) * 0x9e3779b97f4a7c15u;
}

bool has_values(const Record& record) {
  for (const auto& tensor : record.outputs) {
    if (tensor.has_values()) return true;
  }
  return false;
}

Result<std::vector<Signature>> sign(Stream& stream) {
  std::vector<Signature> signatures;
  while (true) {
    if (interrupt_requested().load(std::memory_order_relaxed)) return interrupted_error("");
    auto next = stream.next();
    if (!next) return std::move(next).error();
    if (*next == nullptr) return signatures;
    const Record& record = **next;
    if (!record.site.iteration) continue;
    if (signatures.empty() || signatures.back().iteration != *record.site.iteration) {
      signatures.push_back({*record.site.iteration});
    }
    if (!has_values(record)) continue;
    Signature& signature = signatures.back();
    const Entry entry = make_entry(record, 0);
    signature.whole = mix(mix(signature.whole, entry.identity), entry.value);
    if (++signature.valued == k_prefix) signature.prefix = signature.whole;
  }
}

// Iterations by signature; those that occur twice are marked as useless.
std::unordered_map<std::uint64_t, std::optional<std::int64_t>> unique(
    const std::vector<Signature>& signatures, std::uint64_t Signature::* which) {
  std::unordered_map<std::uint64_t, std::optional<std::int64_t>> by_signature;
  for (const Signature& signature : signatures) {
    if (signature.valued == 0 || signature.*which == 0) continue;
    const auto [place, fresh] = by_signature.emplace(signature.*which, signature.iteration);
    if (!fresh && place->second != signature.iteration) place->second.reset();
  }
  return by_signature;
}

}  // namespace

Result<std::optional<OffsetGuess>> find_offset(Stream& a, Stream& b) {
  auto in_a = sign(a);
  if (!in_a) return std::move(in_a).error();
  auto in_b = sign(b);
  if (!in_b) return std::move(in_b).error();
  for (const auto which : {&Signature::whole, &Signature::prefix}) {
    const auto unique_a = unique(*in_a, which);
    std::map<std::int64_t, std::uint64_t> votes;
    for (const auto& [signature, iteration] : unique(*in_b, which)) {
      const auto found = unique_a.find(signature);
      if (!iteration || found == unique_a.end() || !found->second) continue;
      ++votes[*iteration - *found->second];
    }
    OffsetGuess best;
    bool tie = false;
    for (const auto& [offset, count] : votes) {
      if (count == best.agreeing) tie = true;
      if (count <= best.agreeing) continue;
      best = {offset, count};
      tie = false;
    }
    if (best.agreeing != 0 && !tie) return std::optional(best);
  }
  return std::optional<OffsetGuess>{};
}

}  // namespace detdiff::compare
