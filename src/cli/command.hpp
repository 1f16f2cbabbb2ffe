#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.hpp"
#include "detdiff/result.hpp"
#include "formats/format_table.hpp"
#include "report/terminal.hpp"

namespace detdiff::cli {

/// What a parsed command line asks for. A command sets `run` when its subcommand was chosen.
struct Invocation {
  std::vector<std::string> argv;
  std::function<Result<ExitCode>()> run;
  bool git_bisect = false;  ///< trouble and inconclusive become bisect_skip
};

/// One subcommand: one file in src/cli and one line in the table of app.cpp.
struct Command {
  std::string_view name;
  /// Adds the subcommand with its flags to `app`; its callback sets `invocation.run`. Both outlive
  /// the call and the run.
  void (*add)(CLI::App& app, Invocation& invocation);
};

void add_compare(CLI::App& app, Invocation& invocation);
void add_show(CLI::App& app, Invocation& invocation);
void add_help(CLI::App& app, Invocation& invocation);

/// Parses and runs a command line; prints errors. Returns the exit status.
int run_app(int argc, char** argv);

/// Flags of every command that reads logs.
void add_limit_flags(CLI::App& command, formats::OpenOptions& options);
/// --color; `when` keeps its value if the flag is absent.
void add_color_flag(CLI::App& command, report::When& when);

/// Writes a result: to `path`, or to standard output if it is empty. A reader that closed the pipe is
/// no error. Errors: Errc::io.
Result<void> write_output(const std::string& path, std::string_view text);

/// "detdiff: error: WHERE: MESSAGE" and the hint, on standard error, escaped.
void print_error(const Error& error);

}  // namespace detdiff::cli
