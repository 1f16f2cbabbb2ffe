// Writes a pair of runs in the form of Megatron-LM's determinism trace, mode full, to measure with:
//
//   detdiff_bench_generate FOLDER CASE RANKS RECORDS WIDTH SEED
//
// FOLDER/a and FOLDER/b get RANKS files of RECORDS records each, WIDTH records an iteration. CASE:
//   equal     B is A
//   late      one tensor of the last iteration of the last rank differs, and all that follows
//   early     the same in the second iteration
//   shifted   B was resumed in the middle: half the iterations, sequence from 0
//   sequence  B counts its sequence from 1,000,000,000: it differs on every line, nothing else does
//   extra     B calls one module once more in the second iteration, all values agree
//   zstd      equal, compressed
// The same arguments give the same bytes everywhere.

#include <zstd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Shape {
  std::string which;
  std::uint32_t ranks;
  std::uint64_t records, width, seed;
};

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Writer {
 public:
  Writer(const std::filesystem::path& path, bool packed) : m_file(std::fopen(path.c_str(), "wb")) {
    if (m_file == nullptr) {
      std::perror(path.c_str());
      std::exit(2);
    }
    if (packed) m_packer = ZSTD_createCStream();
    m_buffer.reserve(k_block + 4096);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    flush(ZSTD_e_end);
    if (std::fclose(m_file) != 0) std::perror("close");
    ZSTD_freeCStream(m_packer);
  }
  std::string& buffer() { return m_buffer; }
  void line_done() {
    if (m_buffer.size() >= k_block) flush(ZSTD_e_continue);
  }

 private:
  static constexpr std::size_t k_block = 1 << 20;

  void put(const char* data, std::size_t size) {
    if (std::fwrite(data, 1, size, m_file) != size) {
      std::perror("write");
      std::exit(2);
    }
  }
  void flush(ZSTD_EndDirective directive) {
    if (m_packer == nullptr) {
      put(m_buffer.data(), m_buffer.size());
    } else {
      std::vector<char> out(ZSTD_CStreamOutSize());
      ZSTD_inBuffer input{m_buffer.data(), m_buffer.size(), 0};
      std::size_t left = 1;
      while (input.pos < input.size || (directive == ZSTD_e_end && left != 0)) {
        ZSTD_outBuffer output{out.data(), out.size(), 0};
        left = ZSTD_compressStream2(m_packer, &output, &input, directive);
        put(out.data(), output.pos);
      }
    }
    m_buffer.clear();
  }

  std::FILE* m_file;
  ZSTD_CStream* m_packer = nullptr;
  std::string m_buffer;
};

void append_digest(std::string& out, std::uint64_t seed) {
  constexpr char k_digits[] = "0123456789abcdef";
  char text[64];
  for (std::uint64_t word = 0; word < 4; ++word) {
    std::uint64_t bits = mix(seed + word * 0x9e3779b97f4a7c15u);
    for (std::size_t i = 0; i < 16; ++i, bits >>= 4) text[word * 16 + i] = k_digits[bits & 15];
  }
  out.append(text, sizeof text);
}

// The part of a line that only depends on its place in the iteration.
struct Template {
  std::string before_sequence, after_sequence, after_digest;
};

std::vector<Template> make_templates(std::uint64_t width, std::uint32_t rank) {
  std::vector<Template> lines;
  constexpr std::string_view k_modules[] = {"input_layernorm", "self_attention.linear_qkv",
                                            "self_attention.core_attention", "self_attention.linear_proj",
                                            "pre_mlp_layernorm", "mlp.linear_fc1", "mlp.linear_fc2"};
  for (std::uint64_t k = 0; k < width; ++k) {
    const bool backward = k >= width / 2;
    const std::uint64_t place = backward ? width - 1 - k : k;
    const std::string module = "decoder.layers." + std::to_string(place / 7) + "." + std::string(k_modules[place % 7]);
    const std::uint64_t hidden = 1024 << (place % 3);
    Template line;
    const std::string elements = std::to_string(4096 * hidden);
    line.before_sequence = std::string(",\"metadata\":{\"layer\":") + std::to_string(place / 7) +
                           "},\"microbatch\":0,\"name\":\"" + module + (backward ? ".weight.grad" : "") +
                           "\",\"occurrence\":0,\"phase\":\"" + (backward ? "backward" : "forward") +
                           "\",\"rank\":" + std::to_string(rank) + ",\"schema_version\":1,\"sequence\":";
    line.after_sequence = ",\"tensor\":{\"all_finite\":true,\"captured_numel\":" + elements +
                          ",\"device_type\":\"cuda\",\"dtype\":\"bfloat16\",\"exact_value_certificate\":"
                          "true,\"layout\":\"strided\",\"mode\":\"full\",\"numel\":" + elements +
                          ",\"requires_grad\":false,\"sha256\":\"";
    line.after_digest = std::string("\",\"shape\":[4096,") + std::to_string(hidden) + "],\"stride\":[" +
                        std::to_string(hidden) + ",1],\"value_observed\":true}}\n";
    lines.push_back(std::move(line));
  }
  return lines;
}

void append_line(std::string& out, const Template& line, std::uint64_t iteration,
                 std::uint64_t sequence, std::uint64_t digest_seed) {
  out += "{\"event\":\"tensor\",\"iteration\":";
  out += std::to_string(iteration);
  out += line.before_sequence;
  out += std::to_string(sequence);
  out += line.after_sequence;
  append_digest(out, digest_seed);
  out += line.after_digest;
}

void write_rank(const std::filesystem::path& path, const Shape& shape, std::uint32_t rank, bool is_b) {
  const std::uint64_t iterations = (shape.records + shape.width - 1) / shape.width;
  const std::string& which = shape.which;
  const std::uint64_t first = is_b && which == "shifted" ? iterations / 2 : 0;
  std::uint64_t sequence = is_b && which == "sequence" ? 1'000'000'000u : 0;
  const bool last_rank = rank + 1 == shape.ranks;
  const std::uint64_t differs_in = which == "late" ? iterations - 1 : which == "early" ? 1 : UINT64_MAX;
  Writer writer(path, which == "zstd");
  const auto lines = make_templates(shape.width, rank);
  bool differs = false;
  for (std::uint64_t i = first; i < iterations; ++i) {
    for (std::uint64_t k = 0; k < shape.width && i * shape.width + k < shape.records; ++k) {
      if (is_b && last_rank && i == differs_in && k == shape.width / 2) differs = true;
      const std::uint64_t seed =
          mix(shape.seed + mix(rank * 0x10001u + mix(i * 0x100001u + k))) + (differs ? 1 : 0);
      std::string& out = writer.buffer();
      append_line(out, lines[k], i + 1, sequence++, seed);
      if (is_b && which == "extra" && last_rank && i == 1 && k == 3) {
        Template again = lines[k];
        const std::string key = "\"occurrence\":0";
        again.before_sequence.replace(again.before_sequence.find(key), key.size(), "\"occurrence\":1");
        append_line(out, again, i + 1, sequence++, seed);
      }
      writer.line_done();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s FOLDER CASE RANKS RECORDS WIDTH SEED\n", argv[0]);
    return 2;
  }
  const Shape shape{argv[2], static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10)),
                    std::strtoull(argv[4], nullptr, 10), std::strtoull(argv[5], nullptr, 10),
                    std::strtoull(argv[6], nullptr, 10)};
  for (const bool is_b : {false, true}) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / (is_b ? "b" : "a");
    std::filesystem::create_directories(folder);
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      char name[64];
      std::snprintf(name, sizeof name, "rank_%06u.jsonl%s", rank, shape.which == "zstd" ? ".zst" : "");
      write_rank(folder / name, shape, rank, is_b);
    }
  }
  return 0;
}
