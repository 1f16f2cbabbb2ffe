#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "detdiff/result.hpp"
#include "formats/byte_source.hpp"

namespace detdiff::test {

/// What a stream gave from where it stood to its end.
struct ReadOutcome {
  std::string bytes;
  std::optional<Error> error;
  bool truncated = false;
  bool grew = false;
  bool replaced = false;

  [[nodiscard]] bool clean() const { return !error && !truncated; }
};

/// Reads to the end in requests of `request` bytes.
inline ReadOutcome read_to_end(ByteStream& stream, std::size_t request = block_bytes) {
  ReadOutcome outcome;
  std::vector<char> buffer(request);
  while (true) {
    const Result<std::size_t> got = stream.read(buffer);
    if (!got) {
      outcome.error = got.error();
      return outcome;
    }
    if (*got == 0) break;
    outcome.bytes.append(buffer.data(), *got);
  }
  outcome.truncated = stream.truncated();
  outcome.grew = stream.grew();
  outcome.replaced = stream.replaced();
  return outcome;
}

/// Opens and reads to the end.
inline ReadOutcome read_source(const ByteSource& source, std::size_t request = block_bytes) {
  const Result<std::unique_ptr<ByteStream>> stream = source.open();
  if (stream) return read_to_end(**stream, request);
  ReadOutcome outcome;
  outcome.error = stream.error();
  return outcome;
}

/// Packed bytes in memory, read to the end.
inline ReadOutcome read_memory(std::string bytes, const ByteLimits& limits = {},
                               std::size_t request = block_bytes) {
  return read_source(*memory_source("packed", std::move(bytes), limits), request);
}

/// Bytes that look like a log: numbered lines, compressible but not trivially.
inline std::string numbered_lines(std::size_t size) {
  std::string text;
  std::uint64_t state = 1;
  while (text.size() < size) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    text += R"({"sequence":)" + std::to_string(text.size()) + R"(,"digest":")" +
            std::to_string(state) + "\"}\n";
  }
  text.resize(size);
  return text;
}

}  // namespace detdiff::test
