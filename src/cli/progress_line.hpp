#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "compare/progress.hpp"
#include "model/run.hpp"
#include "report/terminal.hpp"

namespace detdiff::cli {

/// One self-clearing line on standard error while two runs are compared: share of the bytes, records
/// a second, time left. Shown only on a terminal (or with `always`), and only once it has taken half
/// a second.
class ProgressLine {
 public:
  ProgressLine(report::When when, const Run& a, const Run& b);
  ~ProgressLine() { finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Counters to hand to the comparison; nullptr if nothing is shown.
  compare::Progress* counters() { return m_shown ? &m_counters : nullptr; }
  /// Stops and clears the line. May be called twice.
  void finish();

 private:
  void draw_until_done();

  bool m_shown;
  compare::Progress m_counters;
  std::mutex m_mutex;
  std::condition_variable m_done_changed;
  bool m_done = false;
  std::thread m_thread;
};

}  // namespace detdiff::cli
