#include "formats/decompress.hpp"

#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "model/interrupt.hpp"

namespace detdiff {
namespace {

constexpr std::size_t max_frame_header = 18;

enum class FrameStart { none, partial, frame, skippable };

std::uint8_t byte_at(std::span<const char> bytes, std::size_t index) {
  return static_cast<std::uint8_t>(bytes[index]);
}

FrameStart zstd_frame_start(std::span<const char> bytes) {
  constexpr std::array<std::uint8_t, 4> frame{0x28, 0xB5, 0x2F, 0xFD};
  constexpr std::array<std::uint8_t, 4> skippable{0x50, 0x2A, 0x4D, 0x18};
  const std::size_t count = std::min(bytes.size(), frame.size());
  bool is_frame = count > 0;
  bool is_skippable = count > 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int skippable_mask = i == 0 ? 0xF0 : 0xFF;
    is_frame = is_frame && byte_at(bytes, i) == frame[i];
    is_skippable = is_skippable && (byte_at(bytes, i) & skippable_mask) == skippable[i];
  }
  if (!is_frame && !is_skippable) return FrameStart::none;
  if (count < frame.size()) return FrameStart::partial;
  return is_frame ? FrameStart::frame : FrameStart::skippable;
}

bool is_gzip_start(std::span<const char> bytes) {
  return !bytes.empty() && byte_at(bytes, 0) == 0x1F &&
         (bytes.size() == 1 || byte_at(bytes, 1) == 0x8B);
}

std::optional<std::uint64_t> zstd_window_bytes(std::span<const char> header) {
  if (header.size() < 6) return std::nullopt;
  const unsigned descriptor = byte_at(header, 4);
  const bool single_segment = (descriptor & 0x20U) != 0;
  if (!single_segment) {
    const unsigned window = byte_at(header, 5);
    const std::uint64_t base = std::uint64_t{1} << (10 + (window >> 3));
    return base + base / 8 * (window & 7U);
  }
  constexpr std::array<std::size_t, 4> dictionary_sizes{0, 1, 2, 4};
  constexpr std::array<std::size_t, 4> content_sizes{1, 2, 4, 8};
  const std::size_t begin = 5 + dictionary_sizes[descriptor & 3U];
  const std::size_t count = content_sizes[descriptor >> 6];
  if (header.size() < begin + count) return std::nullopt;
  std::uint64_t content = 0;
  for (std::size_t i = 0; i < count; ++i) {
    content |= std::uint64_t{byte_at(header, begin + i)} << (8 * i);
  }
  return count == 2 ? content + 256 : content;
}

const char* compression_name(Compression compression) {
  return compression == Compression::zstd ? "zstd" : "gzip";
}

class DecodingStream : public ByteStream {
 public:
  DecodingStream(std::unique_ptr<ByteStream> raw, std::string name, Compression compression)
      : m_raw(std::move(raw)), m_name(std::move(name)), m_compression(compression) {}

  Result<std::size_t> read(std::span<char> out) override {
    if (interrupt_requested()) return interrupted_error(m_name);
    if (m_error) return *m_error;
    if (out.empty()) return std::size_t{0};
    Result<std::size_t> got = read_checked(out);
    if (got) {
      m_position += *got;
    } else {
      m_error = got.error();
    }
    return got;
  }

  [[nodiscard]] std::uint64_t raw_position() const override { return m_raw_position; }
  [[nodiscard]] bool truncated() const override { return m_truncated; }
  [[nodiscard]] bool grew() const override { return m_raw->grew(); }
  [[nodiscard]] bool replaced() const override { return m_raw->replaced(); }

  Result<void> seek(std::uint64_t decoded_offset) override {
    if (m_error || decoded_offset < m_position) {
      if (Result<void> moved = m_raw->seek(0); !moved) return moved;
      m_error.reset();
      m_position = m_raw_position = 0;
      m_begin = m_end = 0;
      m_prefix_begin = m_prefix_end = 0;
      m_raw_ended = m_ended = m_truncated = m_prefix_read = false;
      restart();
    }
    std::vector<char> passed(static_cast<std::size_t>(
        std::min<std::uint64_t>(decoded_offset - m_position, block_bytes)));
    while (m_position < decoded_offset) {
      const std::size_t count = static_cast<std::size_t>(
          std::min<std::uint64_t>(decoded_offset - m_position, passed.size()));
      const Result<std::size_t> got = read(std::span(passed).first(count));
      if (!got) return got.error();
      if (*got == 0) break;
    }
    return {};
  }

 protected:
  virtual Result<std::size_t> decode(std::span<char> out) = 0;
  virtual void restart() = 0;

  [[nodiscard]] std::span<const char> input() const {
    return std::span(m_buffer).subspan(m_begin, m_end - m_begin);
  }

  void consume(std::size_t count) {
    m_begin += count;
    m_raw_position += count;
  }

  Result<void> fill(std::size_t wanted) {
    while (m_end - m_begin < wanted && !m_raw_ended) {
      m_buffer.resize(block_bytes + max_frame_header);
      std::memmove(m_buffer.data(), m_buffer.data() + m_begin, m_end - m_begin);
      m_end -= std::exchange(m_begin, 0);
      const Result<std::size_t> got = m_raw->read(std::span(m_buffer).subspan(m_end, block_bytes));
      if (!got) return got.error();
      m_raw_ended = *got == 0;
      m_end += *got;
    }
    return {};
  }

  std::size_t end(bool inside_frame) {
    m_ended = true;
    m_truncated = inside_frame;
    return 0;
  }

  [[nodiscard]] Error damaged(const std::string& what) const {
    return Error{Errc::damaged, m_name,
                 std::string("corrupt ") + compression_name(m_compression) + " data near byte " +
                     std::to_string(m_raw_position) + ": " + what};
  }

  [[nodiscard]] const std::string& name() const { return m_name; }

 private:
  Result<std::size_t> read_checked(std::span<char> out) {
    if (!m_prefix_read) {
      if (Result<void> prefix = read_prefix(); !prefix) return prefix.error();
    }
    if (m_prefix_begin < m_prefix_end) {
      const std::size_t count = std::min(out.size(), m_prefix_end - m_prefix_begin);
      std::copy_n(m_prefix.data() + m_prefix_begin, count, out.data());
      m_prefix_begin += count;
      return count;
    }
    return m_ended ? std::size_t{0} : decode(out);
  }

  Result<void> read_prefix() {
    while (m_prefix_end < m_prefix.size() && !m_ended) {
      const Result<std::size_t> got = decode(std::span(m_prefix).subspan(m_prefix_end));
      if (!got) return got.error();
      m_prefix_end += *got;
    }
    m_prefix_read = true;
    const Compression inner = detect_compression(std::span(m_prefix).first(m_prefix_end));
    if (inner == Compression::none) return {};
    return Error{
        Errc::unsupported, m_name,
        std::string("compressed twice (") + compression_name(inner) + " inside " +
            compression_name(m_compression) + ")",
        std::string("unpack one layer first, with ") + compression_name(m_compression) + " -d"};
  }

  std::unique_ptr<ByteStream> m_raw;
  std::string m_name;
  Compression m_compression;
  std::optional<Error> m_error;
  std::vector<char> m_buffer;
  std::size_t m_begin = 0;
  std::size_t m_end = 0;
  std::uint64_t m_raw_position = 0;
  std::uint64_t m_position = 0;
  bool m_raw_ended = false;
  bool m_ended = false;
  bool m_truncated = false;
  bool m_prefix_read = false;
  std::array<char, magic_bytes> m_prefix{};
  std::size_t m_prefix_begin = 0;
  std::size_t m_prefix_end = 0;
};

struct FreeZstd {
  void operator()(ZSTD_DCtx* decoder) const { ZSTD_freeDCtx(decoder); }
};
using ZstdDecoder = std::unique_ptr<ZSTD_DCtx, FreeZstd>;

class ZstdStream : public DecodingStream {
 public:
  ZstdStream(std::unique_ptr<ByteStream> raw, std::string name, ZstdDecoder decoder, int window_log)
      : DecodingStream(std::move(raw), std::move(name), Compression::zstd),
        m_decoder(std::move(decoder)),
        m_window_log(window_log) {}

 protected:
  Result<std::size_t> decode(std::span<char> out) override {
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (to.pos == 0) {
      if (Result<void> filled = fill(m_between_frames ? max_frame_header : 1); !filled) {
        return filled.error();
      }
      if (m_between_frames) {
        if (input().empty()) return end(false);
        const Result<bool> whole = check_frame_start();
        if (!whole) return whole.error();
        if (!*whole) return end(true);
      }
      ZSTD_inBuffer from{input().data(), input().size(), 0};
      const std::size_t code = ZSTD_decompressStream(m_decoder.get(), &to, &from);
      const bool stuck = from.size == 0 && to.pos == 0;
      consume(from.pos);
      if (ZSTD_isError(code) != 0) return decoder_error(code);
      m_between_frames = code == 0;
      if (stuck && code != 0) return end(true);
    }
    return to.pos;
  }

  void restart() override {
    ZSTD_DCtx_reset(m_decoder.get(), ZSTD_reset_session_only);
    m_between_frames = true;
  }

 private:
  Result<bool> check_frame_start() {
    const FrameStart start = zstd_frame_start(input());
    if (start == FrameStart::none) return damaged("bytes that begin no frame");
    if (start == FrameStart::partial) return false;
    if (start == FrameStart::skippable) return true;
    const std::optional<std::uint64_t> window = zstd_window_bytes(input());
    if (!window) return false;
    if (*window <= std::uint64_t{1} << m_window_log) return true;
    return Error{Errc::limit, name(),
                 "the zstd window of " + std::to_string(*window) +
                     " bytes exceeds the limit of 2^" + std::to_string(m_window_log) + " bytes",
                 "recompress without --long, or raise --zstd-window-log"};
  }

  [[nodiscard]] Error decoder_error(std::size_t code) const {
    switch (ZSTD_getErrorCode(code)) {
      case ZSTD_error_dictionary_wrong:
        return Error{Errc::unsupported, name(), "needs a zstd dictionary",
                     "recompress without a dictionary"};
      case ZSTD_error_memory_allocation:
        return Error{Errc::io, name(), "no memory for the zstd decoder"};
      default:
        return damaged(ZSTD_getErrorName(code));
    }
  }

  ZstdDecoder m_decoder;
  int m_window_log;
  bool m_between_frames = true;
};

class GzipStream : public DecodingStream {
 public:
  GzipStream(std::unique_ptr<ByteStream> raw, std::string name)
      : DecodingStream(std::move(raw), std::move(name), Compression::gzip),
        m_usable(inflateInit2(&m_inflate, 15 + 16) == Z_OK) {}
  ~GzipStream() override {
    if (m_usable) inflateEnd(&m_inflate);
  }

 protected:
  Result<std::size_t> decode(std::span<char> out) override {
    if (!m_usable) return no_memory();
    while (true) {
      if (Result<void> filled = fill(m_between_members ? 2 : 1); !filled) return filled.error();
      if (m_between_members) {
        if (input().empty()) return end(false);
        if (m_members > 0 && input()[0] == '\0') return skip_padding();
        if (!is_gzip_start(input())) return damaged("bytes that begin no member");
        if (input().size() == 1) return end(true);
        inflateReset(&m_inflate);
        m_between_members = false;
        ++m_members;
      }
      const std::span<const char> from = input();
      const std::size_t room = std::min<std::size_t>(out.size(), UINT_MAX);
      m_inflate.next_in = reinterpret_cast<const Bytef*>(from.data());
      m_inflate.avail_in = static_cast<uInt>(from.size());
      m_inflate.next_out = reinterpret_cast<Bytef*>(out.data());
      m_inflate.avail_out = static_cast<uInt>(room);
      const int code = inflate(&m_inflate, Z_NO_FLUSH);
      const std::size_t produced = room - m_inflate.avail_out;
      consume(from.size() - m_inflate.avail_in);
      if (code == Z_MEM_ERROR) return no_memory();
      if (code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END) {
        return damaged(m_inflate.msg != nullptr ? m_inflate.msg : "unknown form");
      }
      m_between_members = code == Z_STREAM_END;
      if (produced > 0) return produced;
      if (from.empty() && !m_between_members) return end(true);
    }
  }

  void restart() override {
    m_between_members = true;
    m_members = 0;
  }

 private:
  Result<std::size_t> skip_padding() {
    while (!input().empty()) {
      const std::span<const char> zeros = input();
      const auto other = std::find_if(zeros.begin(), zeros.end(), [](char c) { return c != '\0'; });
      consume(static_cast<std::size_t>(other - zeros.begin()));
      if (other != zeros.end()) return damaged("bytes behind the padding");
      if (Result<void> filled = fill(1); !filled) return filled.error();
    }
    return end(false);
  }

  [[nodiscard]] Error no_memory() const {
    return Error{Errc::io, name(), "no memory for the gzip decoder"};
  }

  z_stream m_inflate{};
  bool m_usable;
  bool m_between_members = true;
  std::uint64_t m_members = 0;
};

}  // namespace

Compression detect_compression(std::span<const char> head) {
  const FrameStart start = zstd_frame_start(head);
  const bool cut_zstd = start == FrameStart::partial && head.size() > 1 && byte_at(head, 1) == 0xB5;
  if (start == FrameStart::frame || start == FrameStart::skippable || cut_zstd) {
    return Compression::zstd;
  }
  return is_gzip_start(head) ? Compression::gzip : Compression::none;
}

Result<std::unique_ptr<ByteStream>> decode(std::unique_ptr<ByteStream> raw, Compression compression,
                                           std::string name, const ByteLimits& limits) {
  if (compression == Compression::none) return raw;
  if (compression == Compression::gzip) {
    return std::unique_ptr<ByteStream>(
        std::make_unique<GzipStream>(std::move(raw), std::move(name)));
  }
  const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
  if (limits.zstd_window_log < bounds.lowerBound || limits.zstd_window_log > bounds.upperBound) {
    return Error{Errc::usage, std::move(name),
                 "--zstd-window-log is " + std::to_string(limits.zstd_window_log) + ", expected " +
                     std::to_string(bounds.lowerBound) + " to " +
                     std::to_string(bounds.upperBound)};
  }
  ZstdDecoder decoder(ZSTD_createDCtx());
  if (!decoder || ZSTD_isError(ZSTD_DCtx_setParameter(decoder.get(), ZSTD_d_windowLogMax,
                                                      limits.zstd_window_log)) != 0) {
    return Error{Errc::io, std::move(name), "no memory for the zstd decoder"};
  }
  return std::unique_ptr<ByteStream>(std::make_unique<ZstdStream>(
      std::move(raw), std::move(name), std::move(decoder), limits.zstd_window_log));
}

}  // namespace detdiff
