#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace detdiff::formats {

/// The first byte in [p, end) that ends a plain run of string text: '"', '\\' or a control
/// character; `end` if there is none. Reads up to 16 bytes behind `end`.
inline const char* plain_text_end(const char* p, const char* end) {
  for (; p < end; p += 16) {
#if defined(__SSE2__)
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
    const __m128i slash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
    const __m128i control =
        _mm_cmpeq_epi8(_mm_max_epu8(block, _mm_set1_epi8(0x1f)), _mm_set1_epi8(0x1f));
    const int stops = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), control));
    if (stops == 0) continue;
    p += std::countr_zero(static_cast<unsigned>(stops));
    return p < end ? p : end;
#else
    for (int i = 0; i < 16; ++i) {
      if (p + i == end || p[i] == '"' || p[i] == '\\' || static_cast<unsigned char>(p[i]) < 0x20) {
        return p + i;
      }
    }
#endif
  }
  return end;
}

/// A cheap hash of a key, behind which eight bytes can be read; the top bits are the good ones.
inline std::uint64_t key_hash(std::string_view key) {
  std::uint64_t word = 0;
  std::memcpy(&word, key.data(), sizeof word);
  if (key.size() < 8) {
    if constexpr (std::endian::native == std::endian::little) {
      word &= (std::uint64_t{1} << (8 * key.size())) - 1;
    } else {
      word = key.empty() ? 0 : word >> (8 * (8 - key.size()));
    }
  }
  return (word + key.size() * 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
}

enum class EscapeFault : std::uint8_t { none, unknown, lone_surrogate };

/// One escape of a string.
struct Escape {
  EscapeFault fault = EscapeFault::none;
  std::uint32_t size = 0;  ///< bytes behind the backslash, a second \uXXXX included
  std::uint32_t code = 0;  ///< the code point
};

/// Reads the escape whose backslash stands before `rest`.
Escape read_escape(std::string_view rest);

/// Decodes the inside of a string whose escapes are valid; writes at most as many bytes as it reads
/// and returns the end of what it wrote.
char* decode_text(std::string_view inside, char* out);

/// True if the decimal digits of an integer fit into 64 bits, signed if `negative`.
bool fits_64_bits(std::string_view digits, bool negative);

/// True if a valid JSON number without its sign overflows a double.
bool overflows(std::string_view number);

}  // namespace detdiff::formats
