#include "cli/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace detdiff::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds k_patience{500};
constexpr std::chrono::milliseconds k_period{100};

std::string spell_seconds(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  return fmt::format("{}:{:02} min", whole / 60, whole % 60);
}

}  // namespace

ProgressLine::ProgressLine(report::When when, const Run& a, const Run& b)
    : m_shown(when == report::When::always ||
              (when == report::When::automatic && report::is_terminal(stderr))) {
  if (!m_shown) return;
  for (const Run* run : {&a, &b}) {
    for (const RankInfo& rank : run->info().ranks) m_counters.bytes_total += rank.bytes;
  }
  try {
    m_thread = std::thread([this] { draw_until_done(); });
  } catch (const std::system_error&) {
    m_shown = false;  // no thread to be had: work without showing it
  }
}

void ProgressLine::finish() {
  if (!m_thread.joinable()) return;
  {
    const std::lock_guard lock(m_mutex);
    m_done = true;
  }
  m_done_changed.notify_one();
  m_thread.join();
}

void ProgressLine::draw_until_done() {
  const auto start = Clock::now();
  bool drawn = false;
  std::unique_lock lock(m_mutex);
  auto wait = k_patience;
  while (!m_done_changed.wait_for(lock, wait, [this] { return m_done; })) {
    wait = k_period;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const std::uint64_t total = m_counters.bytes_total;
    const std::uint64_t bytes = std::min<std::uint64_t>(m_counters.bytes_read, total);
    std::string line = fmt::format("{:.1f} of {:.1f} MB, {:.0f} k records/s",
                                   static_cast<double>(bytes) / 1e6, static_cast<double>(total) / 1e6,
                                   static_cast<double>(m_counters.records) / seconds / 1e3);
    if (bytes != 0 && total != 0) {
      const double share = static_cast<double>(bytes) / static_cast<double>(total);
      line = fmt::format("{:3.0f} %, {}, {} left", share * 100, line,
                         spell_seconds(seconds / share - seconds));
    }
    fmt::print(stderr, "\r\x1b[K{}", line);
    std::fflush(stderr);
    drawn = true;
  }
  if (drawn) {
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
  }
}

}  // namespace detdiff::cli
