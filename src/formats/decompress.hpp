#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "detdiff/result.hpp"
#include "formats/byte_source.hpp"

namespace detdiff {

/// Bytes that detect_compression() wants to see.
inline constexpr std::size_t magic_bytes = 4;

/// The compression whose magic `head` begins with. A head shorter than `magic_bytes` is a whole
/// input, and one that can only be the beginning of a magic counts, so that a cut file is torn
/// instead of plain. The rest of such beginnings is text as well: "(" or "P*M" stays plain.
Compression detect_compression(std::span<const char> head);

/// A stream of what `raw` holds in packed form; `name` stands in errors.
///
/// zstd: any number of frames, skippable frames between them, with or without checksum. gzip: any
/// number of members and zeros behind the last one; checksums are verified. Memory is one input
/// block of `block_bytes` and the decoder's window.
///
/// An end inside a frame is not an error but truncated(). Errc::damaged, with the byte offset in
/// the file: corrupt data, a wrong checksum, bytes behind the last frame that begin no other.
/// Errc::limit: a zstd window above `limits.zstd_window_log`. Errc::unsupported: a zstd dictionary
/// is needed, or the decoded bytes are compressed again (one layer only, so that a small file
/// cannot unfold without bound). Errc::usage: a window limit that zstd does not know.
Result<std::unique_ptr<ByteStream>> decode(std::unique_ptr<ByteStream> raw, Compression compression,
                                           std::string name, const ByteLimits& limits);

}  // namespace detdiff
