#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "detdiff/record.hpp"
#include "detdiff/result.hpp"

namespace detdiff {

/// Something the user should know that is no error. `code` is stable, for scripts.
struct Notice {
  std::string code;
  std::string text;
};

/// Records lost at the end of a stream: a torn last line, a compressed frame cut short.
struct Damage {
  Position position;
  std::string text;  ///< "last line is cut off after 137 bytes"
};

/// A run of records that two streams hold alike.
struct Skipped {
  std::uint64_t records = 0;
  EvidenceCounts evidence;
  Position last;  ///< of the last one skipped, in the stream that was asked
};

/// The ordered records of one rank. Reading is sequential; not thread-safe.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  /// The next record in execution order, nullptr at the end. The record lives until the next call
  /// on this stream. Errors: damage with file:line, I/O, limits.
  virtual Result<const Record*> next() = 0;

  /// Skips records that are byte for byte the same in `other` and lie in the same iteration as the
  /// record that both returned last. Both streams then stand where the first other record begins.
  /// A stream that cannot tell skips nothing.
  virtual Result<Skipped> skip_equal(Stream& other) = 0;

  /// Jumps to the record that begins at `position` (as a record of this stream said); the order
  /// checks of the format are suspended from there on. Used to fetch the records of findings.
  virtual Result<const Record*> read_at(const Position& position) = 0;

  /// Set once next() returned nullptr: what was lost at the end.
  [[nodiscard]] virtual std::optional<Damage> damage() const = 0;

  /// True once the producer's own end mark was read (a trailer); a stream without one may be cut.
  [[nodiscard]] virtual bool finished() const = 0;

  /// What happened to the input while it was read ("file_grew", "file_replaced"); after the end.
  [[nodiscard]] virtual std::vector<Notice> notices() const { return {}; }

  /// Bytes of the input consumed so far, as stored (compressed) and for progress only.
  [[nodiscard]] virtual std::uint64_t bytes_read() const = 0;
};

/// What is known about one rank before reading it.
struct RankInfo {
  std::optional<std::uint32_t> rank;  ///< absent for logs without ranks (golden values)
  std::string file;                   ///< as the user would name it
  std::uint64_t bytes = 0;            ///< as stored
  std::uint64_t device = 0, inode = 0;
  std::map<std::string, std::int64_t> coordinates;  ///< "tp", "pp", "dp", ... where the log has them
};

/// What is known about a run before reading its records.
struct RunInfo {
  std::string path;      ///< as the user named it
  std::string format;    ///< short name, e.g. "megatron-trace"
  std::string title;     ///< for people, e.g. "Megatron-LM determinism trace (PR 6610)"
  std::string run_id;    ///< empty if unrecorded
  bool metrics_only = false;  ///< scalars per step and nothing else
  std::optional<std::uint32_t> world_size;
  std::map<std::string, std::string> environment;
  std::vector<RankInfo> ranks;  ///< ascending by rank
  std::vector<Notice> notices;  ///< found while opening
};

/// One execution of a job, as its logs tell it. Thread-safe to read and open().
class Run {
 public:
  virtual ~Run() = default;
  [[nodiscard]] const RunInfo& info() const { return m_info; }
  /// A fresh stream over rank `index` of info().ranks.
  [[nodiscard]] virtual Result<std::unique_ptr<Stream>> open(std::size_t index) const = 0;
  /// For whoever opens the run, before it is shared.
  void add_notices(const std::vector<Notice>& notices) {
    m_info.notices.insert(m_info.notices.end(), notices.begin(), notices.end());
  }

 protected:
  RunInfo m_info;
};

}  // namespace detdiff
