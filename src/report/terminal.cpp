#include "report/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

namespace detdiff::report {
namespace {

constexpr unsigned k_widest = 10'000;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

unsigned number_in(const char* name) {
  const std::string_view text = variable(name);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value <= k_widest ? value : 0;
}

}  // namespace

std::optional<When> parse_when(std::string_view text) {
  if (text == "auto") return When::automatic;
  if (text == "always") return When::always;
  if (text == "never") return When::never;
  return std::nullopt;
}

bool decide_color(When when, const ColorSetting& setting) {
  if (when != When::automatic) return when == When::always;
  if (!setting.no_color.empty()) return false;
  if (!setting.clicolor_force.empty() && setting.clicolor_force != "0") return true;
  return setting.terminal && setting.term != "dumb";
}

bool use_color(When when, std::FILE* stream) {
  return decide_color(when, {variable("NO_COLOR"), variable("CLICOLOR_FORCE"), variable("TERM"),
                             is_terminal(stream)});
}

bool is_terminal(std::FILE* stream) {
  const int descriptor = ::fileno(stream);
  return descriptor >= 0 && ::isatty(descriptor) == 1;
}

Screen screen(std::FILE* stream) {
  if (!is_terminal(stream)) return {};
  Screen size{number_in("COLUMNS"), number_in("LINES")};
  winsize reported{};
  const bool known = ::ioctl(::fileno(stream), TIOCGWINSZ, &reported) == 0;
  if (size.width == 0) size.width = known && reported.ws_col != 0 ? reported.ws_col : 80;
  if (size.height == 0) size.height = known && reported.ws_row != 0 ? reported.ws_row : 24;
  return size;
}

}  // namespace detdiff::report
