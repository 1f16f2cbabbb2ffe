#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detdiff/fingerprint.hpp"
#include "detdiff/record.hpp"
#include "detdiff/result.hpp"

namespace detdiff {

/// The first line of a trace: who wrote it, where and when. Everything may stay empty; several
/// files in one folder each need their rank.
struct TraceHeader {
  std::string tool;  ///< what wrote the file
  std::string tool_version;
  std::string run_id;  ///< the same in all files of a run, another one in every other run
  std::optional<std::uint32_t> rank;
  std::optional<std::uint32_t> world_size;
  std::map<std::string, std::int64_t> coordinates;           ///< "tp", "pp", "dp", ... of this rank
  std::map<std::string, std::vector<std::uint32_t>> groups;  ///< process group -> its ranks
  std::map<std::string, std::string> environment;
  std::vector<DigestKind> digests;  ///< the kinds that records carry
  bool metrics_only = false;        ///< scalars per step and nothing else
  std::string started;              ///< RFC 3339, "2026-01-02T03:04:05Z"
};

/// Writes one rank's stream in detdiff's trace format (`detdiff help trace-format`).
///
/// Same calls, same bytes. Lines are collected and handed on in blocks of 64 KiB, before a record
/// of another iteration, and by flush(); what a killed process leaves is whole up to the last of
/// these. Destroying a writer without finish() hands on what was collected but writes no trailer:
/// a reader then knows that the producer died.
///
/// Nothing is written that the reader would refuse: text that is not UTF-8, an attribute that is no
/// canonical JSON, a record over the format's limits or of the wrong form is Errc::usage, and the
/// trace goes on as if it had not been offered. Once the sink has failed, every call returns that
/// failure. `where` is the path.
class TraceWriter {
 public:
  struct Options {
    /// True writes Record::sequence into every record, which must rise strictly; false writes none,
    /// and the order of the lines is all there is.
    bool numbered = false;
    int zstd_level = 3;
  };

  /// Takes bytes in order. An Error ends the trace.
  using Sink = std::function<Result<void>(std::string_view)>;

  /// Creates `path` and writes the header. A file that is there already is Errc::usage: evidence is
  /// not overwritten. A name ending in ".zst" is written as one zstd frame.
  static Result<TraceWriter> create(const std::string& path, const TraceHeader& header,
                                    const Options& options);
  static Result<TraceWriter> create(const std::string& path, const TraceHeader& header);

  /// Writes uncompressed to `sink`; `name` stands in errors. A second writer on the same sink
  /// appends a segment, as a restarted run does.
  static Result<TraceWriter> create(Sink sink, std::string name, const TraceHeader& header,
                                    const Options& options);
  static Result<TraceWriter> create(Sink sink, std::string name, const TraceHeader& header);

  TraceWriter(TraceWriter&&) noexcept;
  TraceWriter& operator=(TraceWriter&&) noexcept;
  ~TraceWriter();

  /// Appends a record. Its rank, if it has one, must be the header's; position, keys and
  /// starts_segment are not written. `notes` are kept in the file but are no content: they are
  /// never compared; their values are canonical JSON like those of attributes.
  Result<void> write(const Record& record, const std::vector<Attribute>& notes = {});

  /// Appends an event: something that happened, with its content.
  Result<void> event(const Site& site, std::vector<Attribute> attributes = {});

  /// Appends an exact scalar; NaN and infinities are kept. In a numbered trace the next number is
  /// taken, as in event().
  Result<void> scalar(const Site& site, double value);

  /// Hands everything on to the sink, so that a reader of the growing file sees it.
  Result<void> flush();

  /// Writes the trailer and closes the file. Once only; nothing can be written afterwards.
  Result<void> finish();

  /// Records written so far.
  [[nodiscard]] std::uint64_t records() const;

 private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

}  // namespace detdiff
