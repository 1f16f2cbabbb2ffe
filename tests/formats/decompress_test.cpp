#include "formats/decompress.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "model/interrupt.hpp"
#include "support/catch.hpp"
#include "support/packing.hpp"
#include "support/read_stream.hpp"
#include "support/temp_dir.hpp"

using namespace detdiff;
using namespace detdiff::test;

namespace {

struct Packed {
  std::string bytes;
  std::string content;
  /// Offsets between frames, where a cut leaves a whole, shorter input.
  std::vector<std::size_t> boundaries;
};

Packed packed(const std::vector<std::string>& frames, const std::string& content) {
  Packed result;
  result.content = content;
  for (const std::string& frame : frames) {
    result.boundaries.push_back(result.bytes.size());
    result.bytes += frame;
  }
  return result;
}

std::vector<Packed> small_files() {
  const std::string a = numbered_lines(700);
  const std::string b = "second\n";
  ZstdOptions as_pipe;
  as_pipe.content_size = as_pipe.checksum = false;
  return {packed({zstd_frame(a)}, a), packed({zstd_frame(a, as_pipe), zstd_frame(b)}, a + b),
          packed({zstd_skippable_frame("note"), zstd_frame(a), zstd_skippable_frame("")}, a),
          packed({gzip_member(a)}, a), packed({gzip_member(a), gzip_member(b)}, a + b)};
}

bool is_prefix(const std::string& part, const std::string& whole) {
  return whole.compare(0, part.size(), part) == 0;
}

std::string large_window_frame() {
  ZstdOptions options;
  options.window_log = 28;
  options.content_size = false;
  return zstd_frame(numbered_lines(100), options);
}

}  // namespace

TEST_CASE("zstd and gzip are decoded, whatever the frames and requests", "[bytes][packed]") {
  const std::string a = numbered_lines(400'000);
  const std::string b = numbered_lines(3);
  ZstdOptions bare;
  bare.checksum = bare.content_size = false;
  const std::string zst = zstd_frame(a, bare) + zstd_frame("") +
                          zstd_skippable_frame("seek table") + zstd_frame(b) + zstd_frame(a);
  const std::string gz =
      gzip_member(a) + gzip_member("") + gzip_member(b) + gzip_member(a) + std::string(500, '\0');
  for (const std::string& bytes : {zst, gz}) {
    for (const std::size_t request : {std::size_t{13}, std::size_t{4096}, 5 * block_bytes}) {
      const ReadOutcome outcome = read_memory(bytes, {}, request);
      CHECK(outcome.clean());
      CHECK((outcome.bytes == a + b + a));
    }
  }
  CHECK(memory_source("m", zst, {})->compression() == Compression::zstd);
  CHECK(memory_source("m", gz, {})->compression() == Compression::gzip);
}

TEST_CASE("magic bytes decide, not names", "[bytes][packed]") {
  const TempDir dir;
  const std::string text = numbered_lines(5000);
  const auto plain = open_source(dir.write("plain.zst", text), {});
  const auto zst = open_source(dir.write("a.jsonl", zstd_frame(text)), {});
  REQUIRE((plain.ok() && zst.ok()));
  CHECK((read_source(**plain).bytes == text));
  CHECK((read_source(**zst).bytes == text));
  const auto raw = (*zst)->open_raw();
  CHECK((read_to_end(**raw).bytes == zstd_frame(text)));
  for (const char* text_like_magic : {"", "(", "P", "P*", "P*M"}) {
    CHECK(detect_compression(std::string(text_like_magic)) == Compression::none);
  }
}

TEST_CASE("cut at any byte is a torn tail, never a clean end", "[bytes][packed][trap]") {
  for (const Packed& file : small_files()) {
    const std::size_t first = detect_compression(file.bytes) == Compression::gzip ? 1 : 2;
    const bool begins_with_skippable = file.bytes[0] == '\x5A';
    for (std::size_t size = begins_with_skippable ? 4 : first; size < file.bytes.size(); ++size) {
      const ReadOutcome outcome = read_memory(file.bytes.substr(0, size), {}, 50);
      CAPTURE(size, file.bytes.size());
      CHECK(is_prefix(outcome.bytes, file.content));
      const bool between_frames =
          std::count(file.boundaries.begin(), file.boundaries.end(), size) != 0;
      CHECK_FALSE(outcome.error);
      CHECK(outcome.truncated != between_frames);
    }
    CHECK(read_memory(file.bytes).clean());
  }
}

TEST_CASE("a flipped byte never gives other content with a clean end", "[bytes][packed][trap]") {
  const std::string text = numbered_lines(500);
  for (const std::string& whole : {zstd_frame(text), gzip_member(text)}) {
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const int flip : {0x01, 0x10, 0x80, 0xFF}) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
        if (detect_compression(bytes) == Compression::none) continue;
        const ReadOutcome outcome = read_memory(bytes);
        CAPTURE(at, flip);
        CHECK((!outcome.clean() || outcome.bytes == text));
      }
    }
  }
}

TEST_CASE("corrupt data is damage with file and byte", "[bytes][packed]") {
  const std::string text = numbered_lines(2000);
  std::string zst = zstd_frame(text);
  zst.back() = static_cast<char>(zst.back() ^ 1);
  std::string gz = gzip_member(text);
  gz[gz.size() - 6] = static_cast<char>(gz[gz.size() - 6] ^ 1);
  for (const std::string& bytes : {zst, gz}) {
    const auto stream = memory_source("a.packed", bytes, {})->open();
    const ReadOutcome outcome = read_to_end(**stream);
    REQUIRE(outcome.error);
    CHECK(outcome.error->code == Errc::damaged);
    CHECK(outcome.error->where == "a.packed");
    CHECK(outcome.error->message.find(" near byte ") != std::string::npos);
    std::string buffer(100, '\0');
    CHECK((*stream)->read(buffer).error().message == outcome.error->message);
  }
}

TEST_CASE("bytes behind the last frame are damage, however few", "[bytes][packed][trap]") {
  const std::string text = numbered_lines(100);
  for (const std::string& whole : {zstd_frame(text), gzip_member(text)}) {
    for (const std::string& garbage : {std::string("\n"), std::string("(x"), std::string("PK\x03"),
                                       std::string("trailing text"), std::string("\0\0x", 3)}) {
      const ReadOutcome outcome = read_memory(whole + garbage);
      CAPTURE(garbage);
      CHECK((outcome.bytes == text));
      REQUIRE(outcome.error);
      CHECK(outcome.error->code == Errc::damaged);
    }
  }
  CHECK(read_memory(zstd_frame(text) + std::string(4, '\0')).error->code == Errc::damaged);
  CHECK(read_memory(zstd_frame(text) + std::string(4, '\0')).error->message ==
        "corrupt zstd data near byte " + std::to_string(zstd_frame(text).size()) +
            ": bytes that begin no frame");
  CHECK(read_memory(gzip_member(text) + std::string(3 * block_bytes, '\0')).clean());
}

TEST_CASE("a window above the limit is refused with the way out", "[bytes][packed][trap]") {
  const ReadOutcome refused = read_memory(large_window_frame());
  REQUIRE(refused.error);
  CHECK(refused.error->code == Errc::limit);
  CHECK(refused.error->message ==
        "the zstd window of 268435456 bytes exceeds the limit of 2^27 bytes");
  CHECK(refused.error->hint == "recompress without --long, or raise --zstd-window-log");
  ByteLimits raised;
  raised.zstd_window_log = 28;
  CHECK((read_memory(large_window_frame(), raised).bytes == numbered_lines(100)));

  ByteLimits small;
  small.zstd_window_log = 10;
  CHECK(read_memory(zstd_frame(numbered_lines(1024)), small).clean());
  for (const std::size_t request : {std::size_t{10}, 5 * block_bytes}) {
    CHECK(read_memory(zstd_frame(numbered_lines(1025)), small, request).error->code == Errc::limit);
    CHECK(read_memory(zstd_frame(numbered_lines(70'000)), small, request).error->code ==
          Errc::limit);
  }
  small.zstd_window_log = 5;
  CHECK(read_memory(zstd_frame("x"), small).error->code == Errc::usage);
}

TEST_CASE("only one layer is unpacked", "[bytes][packed][trap]") {
  const std::string text = numbered_lines(1000);
  for (const std::string& inner : {zstd_frame(text), gzip_member(text)}) {
    for (const std::string& twice : {zstd_frame(inner), gzip_member(inner)}) {
      for (const std::size_t request : {std::size_t{1}, block_bytes}) {
        const ReadOutcome outcome = read_memory(twice, {}, request);
        REQUIRE(outcome.error);
        CHECK(outcome.error->code == Errc::unsupported);
        CHECK(outcome.error->message.find("compressed twice") == 0);
        CHECK(outcome.bytes.empty());
      }
    }
  }
}

TEST_CASE("a frame that needs a dictionary says so", "[bytes][packed]") {
  const std::string frame("\x28\xB5\x2F\xFD\x21\x07\x00\x01\x00\x00", 10);
  const ReadOutcome outcome = read_memory(frame);
  REQUIRE(outcome.error);
  CHECK(outcome.error->code == Errc::unsupported);
  CHECK(outcome.error->message == "needs a zstd dictionary");
}

TEST_CASE("a hundred thousand empty frames cost little", "[bytes][packed][trap]") {
  for (const std::string& empty : {zstd_frame(""), zstd_skippable_frame("x"), gzip_member("")}) {
    std::string bytes;
    for (int i = 0; i < 100'000; ++i) bytes += empty;
    const auto begin = std::chrono::steady_clock::now();
    const ReadOutcome outcome = read_memory(bytes);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    CHECK(outcome.clean());
    CHECK(outcome.bytes.empty());
    CHECK(took.count() < 5.0);
  }
}

TEST_CASE("a small file that unfolds is bounded by the limit of content", "[bytes][packed]") {
  ByteLimits limits;
  limits.max_bytes = 1 << 20;
  const std::string zeros(16 << 20, '\0');
  for (const std::string& bomb : {zstd_frame(zeros), gzip_member(zeros)}) {
    const ReadOutcome outcome = read_memory(bomb, limits);
    REQUIRE(outcome.error);
    CHECK(outcome.error->code == Errc::limit);
    CHECK(outcome.bytes.size() == limits.max_bytes);
  }
}

TEST_CASE("decoded streams seek to decoded offsets", "[bytes][packed]") {
  const std::string text = numbered_lines(300'000);
  for (const std::string& bytes :
       {zstd_frame(text.substr(0, 200'000)) + zstd_frame(text.substr(200'000)),
        gzip_member(text.substr(0, 200'000)) + gzip_member(text.substr(200'000))}) {
    const auto source = memory_source("m", bytes, {});
    const auto stream = source->open();
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, std::size_t{250'000},
                                     std::size_t{3}, text.size(), std::size_t{199'999}}) {
      REQUIRE((*stream)->seek(offset).ok());
      std::string some(100, '\0');
      const std::size_t got = *(*stream)->read(some);
      CHECK(some.substr(0, got) == text.substr(offset, got));
      CHECK((got > 0 || offset == text.size()));
    }
    REQUIRE((*stream)->seek(text.size() + 1).ok());
    CHECK(read_to_end(**stream).bytes.empty());
    CHECK((*stream)->raw_position() == bytes.size());
    REQUIRE((*stream)->seek(2).ok());
    CHECK((read_to_end(**stream).bytes == text.substr(2)));
    CHECK((*source->head(20) == text.substr(0, 20)));
  }
}

TEST_CASE("a stream can go back after damage and after a torn tail", "[bytes][packed]") {
  const std::string text = numbered_lines(2000);
  for (const std::string& bytes : {zstd_frame(text) + "x", gzip_member(text) + "x",
                                   zstd_frame(text) + "\x28\xB5", gzip_member(text) + "\x1F"}) {
    const auto stream = memory_source("m", bytes, {})->open();
    const ReadOutcome first = read_to_end(**stream);
    CHECK_FALSE(first.clean());
    REQUIRE((*stream)->seek(0).ok());
    CHECK_FALSE((*stream)->truncated());
    const ReadOutcome second = read_to_end(**stream);
    CHECK((second.bytes == first.bytes));
    CHECK(second.truncated == first.truncated);
    CHECK(second.error.has_value() == first.error.has_value());
  }
}

TEST_CASE("the checks of the file reach through the decoder", "[bytes][packed][trap]") {
  const TempDir dir;
  const std::string text = numbered_lines(2'000'000);
  const std::string bytes = zstd_frame(text);
  const std::string path = dir.write("a.zst", bytes);
  const auto source = open_source(path, {});
  const auto stream = (*source)->open();
  std::string some(10, '\0');
  const auto begun = (*stream)->read(some);
  REQUIRE(begun.ok());
  SECTION("cut while open") {
    std::filesystem::resize_file(path, bytes.size() - 1);
    const ReadOutcome outcome = read_to_end(**stream);
    REQUIRE(outcome.error);
    CHECK(outcome.error->message.find("truncated while being read") == 0);
  }
  SECTION("grown while open") {
    write_file(path, bytes + zstd_frame("more"));
    const ReadOutcome outcome = read_to_end(**stream);
    CHECK(outcome.clean());
    CHECK(outcome.grew);
    CHECK((outcome.bytes == text.substr(*begun)));
  }
  SECTION("replaced") {
    std::filesystem::rename(dir.write("b", "x"), path);
    CHECK(read_to_end(**stream).replaced);
  }
  SECTION("interrupted") {
    interrupt_requested() = true;
    CHECK(read_to_end(**stream).error->code == Errc::interrupted);
    interrupt_requested() = false;
  }
}
