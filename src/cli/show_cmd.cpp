#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "report/log_view.hpp"
#include "report/report.hpp"

namespace detdiff::cli {
namespace {

constexpr std::size_t k_head_bytes = std::size_t{64} << 10;
constexpr std::size_t k_max_report = std::size_t{1} << 30;

struct ShowOptions {
  std::string log, site;
  formats::OpenOptions open;
  std::string format = "text";
  std::string output;
  std::size_t max_rows = 20;
  report::When color = report::When::automatic;
  int verbosity = 0;
};

report::TextOptions text_options(const ShowOptions& options) {
  report::TextOptions text;
  text.max_rows = options.max_rows;
  text.verbosity = options.verbosity;
  text.color = options.output.empty() ? report::use_color(options.color, stdout)
                                      : options.color == report::When::always;
  if (options.output.empty() && report::is_terminal(stdout)) {
    const report::Screen screen = report::screen(stdout);
    text.width = screen.width;
    text.height = screen.height;
  }
  return text;
}

// The content of a saved report, absent if the file is something else.
Result<std::optional<std::string>> read_report(const ShowOptions& options) {
  auto source = open_source(options.log, options.open.limits);
  if (!source) return std::move(source).error();
  auto head = (*source)->head(k_head_bytes);
  if (!head) return std::move(head).error();
  if (!report::Report::recognise(*head)) return std::optional<std::string>{};
  auto stream = (*source)->open();
  if (!stream) return std::move(stream).error();
  std::string text;
  std::string block(block_bytes, '\0');
  while (text.size() <= k_max_report) {
    auto count = (*stream)->read(block);
    if (!count) return std::move(count).error();
    if (*count == 0) break;
    text.append(block, 0, *count);
  }
  return std::optional(std::move(text));
}

Result<ExitCode> show_report(const std::string& text, const ShowOptions& options) {
  auto report = report::Report::read(text, options.log);
  if (!report) return std::move(report).error();
  const std::string out =
      options.format == "json" ? report->json() : report->text(text_options(options));
  if (auto written = write_output(options.output, out); !written) return std::move(written).error();
  return ExitCode::same;
}

Result<ExitCode> show_log(const ShowOptions& options) {
  auto run = formats::open_run(options.log, options.open);
  if (!run) return std::move(run).error();
  const bool json = options.format == "json";
  std::string out;
  if (options.site.empty()) {
    auto summary = report::summarise_log(**run);
    if (!summary) return std::move(summary).error();
    out = json ? summary->dump(2) + "\n" : report::log_text(*summary, text_options(options));
  } else {
    auto pattern = parse_site_pattern(options.site);
    if (!pattern) return std::move(pattern).error();
    auto found = report::find_records(**run, *pattern, options.max_rows);
    if (!found) return std::move(found).error();
    if ((*found)["matching"] == 0) {
      return Error{Errc::usage, options.log, fmt::format("no record matches {}", options.site),
                   "show the log without a SITE to see its ranks, phases and modules"};
    }
    out = json ? found->dump(2) + "\n" : report::records_text(*found, text_options(options));
  }
  if (auto written = write_output(options.output, out); !written) return std::move(written).error();
  return ExitCode::same;
}

Result<ExitCode> run_show(const ShowOptions& options) {
  std::error_code ignored;
  if (options.log != "-" && std::filesystem::is_regular_file(options.log, ignored)) {
    auto text = read_report(options);
    if (!text) return std::move(text).error();
    if (*text) return show_report(**text, options);
  }
  return show_log(options);
}

}  // namespace

void add_show(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app.add_subcommand("show", "Show what a log holds, or a saved report again");
  command->footer("SITE is a list of levels, as compare prints it: iteration=3,rank=1,module=decoder.*\n"
                  "Levels that are left out match anything; text may hold * and ?.");
  command->add_option("LOG", options->log, "A log, or a report that compare --format json wrote")
      ->required();
  command->add_option("SITE", options->site, "Print the records at this site");
  command->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "Write to FILE")->type_name("FILE");
  command->add_option("--max-rows", options->max_rows, "Rows of a table, or records; 0 for all")
      ->capture_default_str();
  add_color_flag(*command, options->color);
  command->add_flag("-v,--verbose", options->verbosity, "Of a report: evidence by kind, later findings");
  add_limit_flags(*command, options->open);
  command->callback([options, &invocation] {
    invocation.run = [options] { return run_show(*options); };
  });
}

}  // namespace detdiff::cli
