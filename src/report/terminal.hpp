#pragma once

#include <cstdio>
#include <optional>
#include <string_view>

namespace detdiff::report {

enum class When { automatic, always, never };

/// "auto", "always" or "never", as options spell it.
std::optional<When> parse_when(std::string_view text);

/// What the environment says about colour; see use_color.
struct ColorSetting {
  std::string_view no_color;        ///< NO_COLOR, empty if unset
  std::string_view clicolor_force;  ///< CLICOLOR_FORCE, empty if unset
  std::string_view term;            ///< TERM, empty if unset
  bool terminal = false;            ///< the stream is a terminal
};

/// Whether to write ANSI colour. Strongest first: `when` always or never, NO_COLOR set and not
/// empty, CLICOLOR_FORCE set and not "0", then a terminal whose TERM is not "dumb".
bool decide_color(When when, const ColorSetting& setting);

/// decide_color for `stream` and this process's environment.
bool use_color(When when, std::FILE* stream);

/// Whether `stream` is a terminal; progress is shown only on one. Nothing else in the program asks.
bool is_terminal(std::FILE* stream);

/// The size of a terminal; zeros for anything that is none.
struct Screen {
  unsigned width = 0;   ///< columns
  unsigned height = 0;  ///< lines
};

/// The size of the terminal behind `stream`: COLUMNS and LINES where set to a number, then what the
/// terminal says, then 80 by 24.
Screen screen(std::FILE* stream);

}  // namespace detdiff::report
