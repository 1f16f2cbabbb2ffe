#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "cli/command.hpp"
#include "detdiff/version_info.hpp"
#include "model/interrupt.hpp"
#include "model/output_file.hpp"
#include "report/escape.hpp"

namespace detdiff::cli {
namespace {

constexpr std::array k_commands{
    Command{"compare", add_compare},
    Command{"show", add_show},
    Command{"help", add_help},
};

constexpr std::string_view k_footer =
    "Exit status: 0 same, 1 divergent, 2 trouble, 3 inconclusive, 130 interrupted.\n"
    "detdiff help TOPIC explains: detdiff help lists the topics.";

// The first signal asks for an orderly end, a second one of the same kind is not held up.
void on_signal(int signal) {
  interrupt_requested().store(true);
  std::signal(signal, SIG_DFL);
}

void prepare_process() {
  ignore_fatal_signals();
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  auto log = spdlog::stderr_logger_mt("detdiff");
  log->set_pattern("%n: %l: %v");
  spdlog::set_default_logger(std::move(log));
}

std::string version_text() {
  std::string text = fmt::format("detdiff {}\ncompiler {}, {}", version_info::version,
                                 version_info::compiler, version_info::build_type);
  if (!version_info::sanitizers.empty()) text += fmt::format(", sanitizers {}", version_info::sanitizers);
  text += "\nlibraries";
  for (const auto& library : version_info::libraries) {
    text += fmt::format(" {}{}{}", library.name, library.version.empty() ? "" : " ", library.version);
    if (&library != &version_info::libraries.back()) text += ',';
  }
  return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// CLI11 only says that a subcommand is required; name the word and what may have been meant.
std::optional<Error> unknown_command(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return std::nullopt;
  const std::string_view word = argv[1];
  const Command* nearest = &k_commands.front();
  for (const Command& command : k_commands) {
    if (command.name == word) return std::nullopt;
    if (edit_distance(word, command.name) < edit_distance(word, nearest->name)) nearest = &command;
  }
  std::string hint = "commands are compare, show and help; detdiff --help says more";
  if (edit_distance(word, nearest->name) <= 2) hint = fmt::format("did you mean '{}'?", nearest->name);
  return Error{Errc::usage, "", fmt::format("unknown command '{}'", word), std::move(hint)};
}

int status(ExitCode code, const Invocation& invocation) {
  const bool skip = code == ExitCode::trouble || code == ExitCode::inconclusive;
  return static_cast<int>(invocation.git_bisect && skip ? ExitCode::bisect_skip : code);
}

int parse_failure(CLI::App& app, const CLI::ParseError& error, const Invocation& invocation) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    std::string text;
    if (error.get_name() == "CallForVersion") {
      text = std::string(error.what()) + "\n";
    } else {
      text = app.help();
    }
    auto written = write_output("", text);
    if (written) return static_cast<int>(ExitCode::same);
    print_error(written.error());
    return static_cast<int>(ExitCode::trouble);
  }
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  const auto chosen = app.get_subcommands();
  print_error({Errc::usage, "", std::move(message),
               chosen.empty() ? "detdiff --help"
                              : fmt::format("detdiff {} --help lists its options",
                                            chosen.front()->get_name())});
  return status(ExitCode::trouble, invocation);
}

}  // namespace

void print_error(const Error& error) {
  const std::string where = error.where.empty() ? "" : report::escape(error.where) + ": ";
  spdlog::error("{}{}", where, report::escape(error.message));
  // spdlog has no level for advice; the line keeps the shape of the one above.
  if (!error.hint.empty()) fmt::print(stderr, "detdiff: hint: {}\n", report::escape(error.hint));
}

Result<void> write_output(const std::string& path, std::string_view text) {
  auto file = OutputFile::create(path.empty() ? "-" : path);
  if (!file) return std::move(file).error();
  auto done = file->write(text);
  if (done) done = file->commit();
  // Whoever closed the pipe has read enough.
  if (!done && path.empty() && errno == EPIPE) return {};
  return done;
}

void add_limit_flags(CLI::App& command, formats::OpenOptions& options) {
  command.add_option("--max-line", options.limits.max_line, "Longest line of a log, in bytes")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1024}, std::size_t{1} << 30))
      ->group("Limits");
  command
      .add_option("--max-bytes", options.limits.max_bytes,
                  "Bytes that one file may have once decompressed, 0 for no limit")
      ->capture_default_str()
      ->group("Limits");
  command
      .add_option("--zstd-window-log", options.limits.zstd_window_log,
                  "Largest window of a zstd frame, as a power of two; memory grows with it")
      ->capture_default_str()
      ->check(CLI::Range(10, 31))
      ->group("Limits");
}

void add_color_flag(CLI::App& command, report::When& when) {
  command
      .add_option_function<std::string>(
          "--color", [&when](const std::string& text) { when = *report::parse_when(text); },
          "Colour: auto, always or never (NO_COLOR and CLICOLOR_FORCE count for auto)")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
}

int run_app(int argc, char** argv) {
  prepare_process();
  Invocation invocation;
  invocation.argv.assign(argv, argv + argc);
  if (const auto error = unknown_command(argc, argv)) {
    print_error(*error);
    return static_cast<int>(ExitCode::trouble);
  }
  CLI::App app{"Finds the first tensor whose bits differ between two training runs.", "detdiff"};
  app.footer(std::string(k_footer));
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", version_text());
  for (const Command& command : k_commands) command.add(app, invocation);
  // git bisect must skip a commit also when the command line itself is at fault.
  invocation.git_bisect = std::any_of(argv + 1, argv + argc, [](const char* word) {
    return std::strcmp(word, "--git-bisect") == 0;
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parse_failure(app, error, invocation);
  }
  Result<ExitCode> code = ExitCode::trouble;
  try {
    code = invocation.run();
  } catch (const std::bad_alloc&) {
    code = Error{Errc::limit, "", "out of memory", "compare fewer ranks at once: --jobs 1"};
  }
  if (interrupt_requested()) return static_cast<int>(ExitCode::interrupted);
  if (code) return status(*code, invocation);
  if (code.error().code == Errc::interrupted) return static_cast<int>(ExitCode::interrupted);
  print_error(code.error());
  return status(ExitCode::trouble, invocation);
}

}  // namespace detdiff::cli
