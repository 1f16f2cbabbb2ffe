#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detdiff/result.hpp"
#include "formats/byte_source.hpp"
#include "model/run.hpp"

namespace detdiff::formats {

/// How to open inputs; every limit is a flag of the commands that read logs.
struct OpenOptions {
  ByteLimits limits;
};

/// One input file of a run, as the folder walk found it.
struct InputFile {
  std::shared_ptr<ByteSource> source;
  std::string relative;  ///< path below the folder the user named, or the file's own name
  std::string head;      ///< first decoded bytes, at most 64 KiB
};

/// How sure a format is that it wrote a file.
enum class Sniff : std::uint8_t { no, maybe, yes };

/// A readable format. Adding one is one reader file and one line in format_table.cpp.
struct Format {
  std::string_view name;      ///< stable short name, in reports
  std::string_view title;     ///< for people
  std::string_view known_by;  ///< how its files are recognised
  std::string_view evidence;  ///< what its records can prove at best
  /// Looks at content; never opens anything.
  Sniff (*sniff)(const InputFile& file);
  /// Opens all files that sniffed as this format as one run. `path` is what the user named;
  /// `folder` whether that is a folder.
  Result<std::unique_ptr<Run>> (*open)(const std::string& path, bool folder,
                                       std::vector<InputFile> files, const OpenOptions& options);
};

/// All formats, most specific first.
std::span<const Format> formats();

/// Opens `path` ("-" for standard input) as a run. Files that no format knows are left out with a
/// notice ("unknown_file") as long as one format knows the others.
///
/// Errors: nothing readable, an empty file, no known format, two formats in one folder, a format's
/// own errors.
Result<std::unique_ptr<Run>> open_run(const std::string& path, const OpenOptions& options);

}  // namespace detdiff::formats
