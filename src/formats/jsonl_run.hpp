#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/format_table.hpp"
#include "formats/line_parser.hpp"
#include "model/run.hpp"

namespace detdiff::formats {

/// Reads one rank's JSON Lines file: lines of any length up to the limit, blank lines skipped, CRLF
/// accepted, a torn last line reported as damage. See jsonl_stream.cpp for how lines are predicted.
std::unique_ptr<Stream> make_jsonl_stream(std::shared_ptr<ByteSource> source, std::size_t max_line,
                                          std::unique_ptr<LineParser> parser,
                                          std::optional<std::uint32_t> rank);

/// A run of one JSON Lines file a rank; each is read by its own parser.
class JsonlRun : public Run {
 public:
  using MakeParser = std::function<std::unique_ptr<LineParser>()>;

  JsonlRun(RunInfo info, std::vector<std::shared_ptr<ByteSource>> sources, std::size_t max_line,
           MakeParser make_parser);

  [[nodiscard]] Result<std::unique_ptr<Stream>> open(std::size_t index) const override;

 private:
  std::vector<std::shared_ptr<ByteSource>> m_sources;
  std::size_t m_max_line;
  MakeParser m_make_parser;
};

}  // namespace detdiff::formats
