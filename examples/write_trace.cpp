// Writes a detdiff trace (see `detdiff help trace-format`) with the library.
//
//   write_trace trace.jsonl [SEED]
//
// runs a toy optimiser and records what it computes. Two runs with one seed are the same; with two
// seeds, `detdiff compare` names the first tensor that differs.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "detdiff/trace_writer.hpp"

namespace {

// CRC-32 as in zlib. It is enough for an example; a recorder would use a digest of all bits.
std::uint32_t crc32(const unsigned char* bytes, std::size_t size) {
  std::uint32_t crc = ~0U;
  for (std::size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

detdiff::Fingerprint fingerprint(std::string role, const std::vector<float>& values) {
  detdiff::Fingerprint print;
  print.tensor = std::move(role);
  print.dtype = "float32";
  print.has_shape = true;
  print.shape = {static_cast<std::int64_t>(values.size())};
  std::vector<unsigned char> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const std::uint32_t crc = crc32(bytes.data(), bytes.size());
  detdiff::Digest digest;
  digest.kind = detdiff::DigestKind::crc32;
  digest.size = 4;
  for (std::size_t i = 0; i < 4; ++i) {
    digest.bytes[i] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
  }
  print.digests = {digest};
  return print;
}

detdiff::Result<void> train(detdiff::TraceWriter& trace, std::uint32_t seed) {
  std::vector<float> weight{0.1F, -0.2F, 0.3F};
  std::uint32_t random = seed;
  for (std::int64_t iteration = 1; iteration <= 5; ++iteration) {
    std::vector<float> batch;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      random = random * 1664525U + 1013904223U;
      batch.push_back(static_cast<float>(random >> 8) / 16777216.0F);
    }
    float out = 0;
    for (std::size_t i = 0; i < weight.size(); ++i) out += weight[i] * batch[i];

    detdiff::Record record;
    record.kind = detdiff::RecordKind::call;
    record.site.iteration = iteration;
    record.site.phase = "forward";
    record.site.module = "linear";
    record.site.operation = "dot";
    record.inputs_recorded = true;
    record.inputs = {fingerprint("weight", weight), fingerprint("input", batch)};
    record.outputs = {fingerprint("", {out})};
    if (auto done = trace.write(record); !done) return done;

    detdiff::Site loss;
    loss.iteration = iteration;
    loss.phase = "forward";
    loss.name = "loss";
    if (auto done = trace.scalar(loss, static_cast<double>((out - 1) * (out - 1))); !done) {
      return done;
    }
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] -= 0.1F * (out - 1) * batch[i];
  }
  return trace.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: write_trace TRACE [SEED]\n");
    return 2;
  }
  detdiff::TraceHeader header;
  header.tool = "write_trace";
  header.rank = 0;
  header.world_size = 1;
  header.digests = {detdiff::DigestKind::crc32};
  auto trace = detdiff::TraceWriter::create(argv[1], header);
  const auto seed = static_cast<std::uint32_t>(argc == 3 ? std::strtoul(argv[2], nullptr, 10) : 0);
  const auto done = trace ? train(*trace, seed) : detdiff::Result<void>(trace.error());
  if (!done) {
    std::fprintf(stderr, "%s: %s\n", done.error().where.c_str(), done.error().message.c_str());
    return 2;
  }
  return 0;
}
