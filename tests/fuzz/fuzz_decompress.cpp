#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/byte_source.hpp"
#include "support/read_stream.hpp"

/// The outcome must not depend on the size of the requests, and a second pass must repeat the
/// first.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace detdiff;
  ByteLimits limits;
  limits.zstd_window_log = 16;
  limits.max_bytes = std::uint64_t{1} << 16;
  const auto source =
      memory_source("input", std::string(reinterpret_cast<const char*>(data), size), limits);

  const test::ReadOutcome whole = test::read_source(*source, block_bytes);
  const std::size_t request = size % 61 + 1;
  const auto stream = source->open();
  if (!stream) std::abort();
  const test::ReadOutcome pieces = test::read_to_end(**stream, request);
  if (whole.truncated != pieces.truncated) std::abort();
  if (whole.error.has_value() != pieces.error.has_value()) std::abort();
  if (whole.error && whole.error->code != pieces.error->code) std::abort();
  const std::size_t common = std::min(whole.bytes.size(), pieces.bytes.size());
  if (whole.bytes.compare(0, common, pieces.bytes, 0, common) != 0) std::abort();
  if (!whole.error && whole.bytes != pieces.bytes) std::abort();

  const std::size_t offset = whole.bytes.size() / 2;
  if (!(*stream)->seek(offset)) return 0;
  const test::ReadOutcome rest = test::read_to_end(**stream, request * 100);
  if (!whole.error && rest.bytes != whole.bytes.substr(offset)) std::abort();
  if (rest.truncated != whole.truncated) std::abort();
  return 0;
}
