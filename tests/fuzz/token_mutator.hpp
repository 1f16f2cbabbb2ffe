#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// A mutator for JSON readers: it changes whole tokens, which byte mutations hardly ever leave valid.
// Include it from a target, once.

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size)
    __attribute__((weak));

namespace detdiff::fuzz {

inline constexpr std::array<std::string_view, 40> k_nasty{
    "0",     "-0",    "00",      "01",     "1.0",  "-1",     "1e400",  "1e-400", "1E+2",  "18446744073709551615",
    "18446744073709551616", "9223372036854775808", "-9223372036854775809", "NaN", "Infinity", "-Infinity",
    "null",  "true",  "false",   "\"\"",   "\"nan\"", "\"\\u0000\"", "\"\\ud800\"", "\"\\ud83d\\ude00\"",
    "\"\x1b[31m\"", "\"\xff\"", "\"\xe2\x80\xae\"", "[]", "{}", "[[]]", "{\"a\":1,\"a\":2}", "\"\n\"", "\"\\n\"",
    "1.",    ".5",    "+1",      "0x10",   "1e",   "\"sha256\"", "123456789012345678901234567890"};

/// Tokens as [begin, end): strings, runs of word characters, single punctuation.
inline std::vector<std::pair<std::size_t, std::size_t>> tokens_of(std::string_view text) {
  std::vector<std::pair<std::size_t, std::size_t>> tokens;
  const auto is_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
           c == '+';
  };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text[i] == '"') {
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
    } else if (is_word(text[i])) {
      while (end < text.size() && is_word(text[end])) ++end;
    }
    tokens.emplace_back(i, end);
    i = end;
  }
  return tokens;
}

}  // namespace detdiff::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace detdiff::fuzz;
  std::uint64_t state = seed + 0x9e3779b97f4a7c15u;
  const auto random = [&state](std::size_t bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<std::size_t>(state % std::max<std::size_t>(bound, 1));
  };
  if (size == 0 || random(4) == 0) {
    return LLVMFuzzerMutate != nullptr ? LLVMFuzzerMutate(data, size, max_size) : size;
  }
  std::string text(reinterpret_cast<char*>(data), size);
  const auto tokens = tokens_of(text);
  const auto [begin, end] = tokens[random(tokens.size())];
  const auto [from, to] = tokens[random(tokens.size())];
  const std::string other = text.substr(from, to - from);
  switch (random(4)) {
    case 0: text.replace(begin, end - begin, k_nasty[random(k_nasty.size())]); break;
    case 1: text.replace(begin, end - begin, other); break;
    case 2: text.insert(end, other); break;
    default: text.erase(begin, end - begin); break;
  }
  const std::size_t kept = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), kept);
  return kept;
}
