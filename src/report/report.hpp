#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.hpp"
#include "detdiff/result.hpp"
#include "model/run.hpp"

namespace detdiff::report {

/// Version of the JSON report; schema/compare-report-1.schema.json describes it. Fields may be
/// added freely; it rises when a required one is renamed, removed or changes its meaning.
inline constexpr std::int64_t k_schema_version = 1;

/// One compared run, as the report names it.
struct Input {
  std::string path;         ///< as the user named it; "-" is standard input
  std::string format;       ///< short name
  std::string title;        ///< for people
  std::string run_id;       ///< empty if unrecorded
  std::uint64_t bytes = 0;  ///< of all its files, as stored
  std::size_t ranks = 0;
  bool metrics_only = false;
};
Input make_input(const RunInfo& info);

/// What a report says beside the comparison itself.
struct Context {
  std::string version;               ///< of this program
  std::vector<std::string> argv;     ///< the whole command line
  std::vector<Input> inputs;         ///< A, then B
  std::vector<std::string> filters;  ///< options that left something out ("--skip rank=3")
};

struct TextOptions {
  bool color = false;
  unsigned width = 0;         ///< columns to fit tables into, 0 for no limit
  unsigned height = 0;        ///< lines of the screen, 0 if it is none (then 24 are assumed)
  std::size_t max_rows = 20;  ///< rows of a table, 0 for all
  bool quiet = false;         ///< the verdict line only
  int verbosity = 0;          ///< from 1 on: evidence by kind, later findings, files
};

/// The report of one comparison: one document that JSON and text are both made of, so that a saved
/// report prints the same text again. Cheap to copy.
class Report {
 public:
  /// Takes what it needs of `comparison`; keeps no reference to it.
  static Report make(const compare::Comparison& comparison, const Context& context);

  /// Reads a saved report; `where` names it in errors.
  ///
  /// Errors: Errc::damaged for what is no report, Errc::unsupported for a newer schema_version, and
  /// Errc::limit for nesting over 64, an object with over 1,024 members or text over 1 GiB.
  static Result<Report> read(std::string_view text, const std::string& where);

  /// True if `head`, the beginning of a file, looks like a report of ours rather than a log.
  static bool recognise(std::string_view head);

  /// 0 same, 1 divergent, 3 inconclusive.
  [[nodiscard]] int exit_status() const;

  /// The document, indented, in plain ASCII, with a line end.
  [[nodiscard]] std::string json() const;

  /// The report for people, with a line end. Text of logs is escaped and never begins a line.
  [[nodiscard]] std::string text(const TextOptions& options) const;

 private:
  using Document = nlohmann::ordered_json;
  explicit Report(std::shared_ptr<const Document> document) : m_document(std::move(document)) {}

  std::shared_ptr<const Document> m_document;
};

}  // namespace detdiff::report
