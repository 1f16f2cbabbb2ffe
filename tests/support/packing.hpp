#pragma once

#include <zlib.h>
#include <zstd.h>

#include <string>
#include <string_view>

namespace detdiff::test {

/// How zstd_frame() packs.
struct ZstdOptions {
  int level = 3;
  /// 0 lets the library choose.
  int window_log = 0;
  bool checksum = true;
  /// False packs as a pipe does: the frame says its window but not its size.
  bool content_size = true;
};

/// `bytes` as one zstd frame.
inline std::string zstd_frame(std::string_view bytes, const ZstdOptions& options = {}) {
  ZSTD_CCtx* encoder = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(encoder, ZSTD_c_compressionLevel, options.level);
  ZSTD_CCtx_setParameter(encoder, ZSTD_c_windowLog, options.window_log);
  ZSTD_CCtx_setParameter(encoder, ZSTD_c_checksumFlag, options.checksum ? 1 : 0);
  if (options.content_size) ZSTD_CCtx_setPledgedSrcSize(encoder, bytes.size());
  std::string packed(ZSTD_compressBound(bytes.size()) + 64, '\0');
  ZSTD_outBuffer to{packed.data(), packed.size(), 0};
  ZSTD_inBuffer from{bytes.data(), bytes.size(), 0};
  if (!options.content_size) ZSTD_compressStream2(encoder, &to, &from, ZSTD_e_flush);
  while (ZSTD_compressStream2(encoder, &to, &from, ZSTD_e_end) != 0) {
  }
  ZSTD_freeCCtx(encoder);
  packed.resize(to.pos);
  return packed;
}

/// A zstd skippable frame around `bytes` (at most 255 of them).
inline std::string zstd_skippable_frame(std::string_view bytes) {
  std::string frame("\x5A\x2A\x4D\x18", 4);
  frame += static_cast<char>(bytes.size());
  frame.append(3, '\0');
  return frame.append(bytes);
}

/// `bytes` as one gzip member.
inline std::string gzip_member(std::string_view bytes) {
  z_stream encoder{};
  deflateInit2(&encoder, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&encoder, bytes.size()) + 64, '\0');
  std::string copy(bytes);
  encoder.next_in = reinterpret_cast<Bytef*>(copy.data());
  encoder.avail_in = static_cast<uInt>(copy.size());
  encoder.next_out = reinterpret_cast<Bytef*>(packed.data());
  encoder.avail_out = static_cast<uInt>(packed.size());
  deflate(&encoder, Z_FINISH);
  packed.resize(encoder.total_out);
  deflateEnd(&encoder);
  return packed;
}

}  // namespace detdiff::test
