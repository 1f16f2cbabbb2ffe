#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "detdiff/site.hpp"

/// What the writer and the reader of detdiff's own trace format share.
namespace detdiff::trace {

inline constexpr std::uint64_t version = 1;

inline constexpr std::size_t max_text_bytes = std::size_t{64} << 10;  ///< a name, any of them
inline constexpr std::size_t max_fingerprints = 4096;                 ///< in one record
inline constexpr std::size_t max_dimensions = 64;                     ///< in one shape
inline constexpr std::size_t max_digests = 1024;                      ///< in one fingerprint
inline constexpr std::size_t max_statistics = 1024;                   ///< in one fingerprint
inline constexpr int max_printed_digits = 100;

/// Not part of a dtype: "torch.float32" is "float32".
inline constexpr std::string_view dtype_prefix = "torch.";

/// The name of a record that gives none, or an empty one: module and tensor joined by a dot if it
/// has a tensor, else its operation, module or kernel, whichever is there first.
std::string default_name(const Site& site);

}  // namespace detdiff::trace
