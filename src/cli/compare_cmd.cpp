#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "cli/command.hpp"
#include "cli/progress_line.hpp"
#include "compare/comparison.hpp"
#include "detdiff/version_info.hpp"
#include "report/report.hpp"

namespace detdiff::cli {
namespace {

using compare::Filter;

struct CompareOptions {
  std::string a, b;
  formats::OpenOptions open;
  compare::Options compare;
  std::string format = "text";
  std::string output;
  std::vector<std::string> filters;
  std::optional<std::int64_t> offset;
  std::size_t max_rows = 20;
  report::When color = report::When::automatic;
  report::When progress = report::When::automatic;
  bool quiet = false;
  int verbosity = 0;
};

bool parse_bound(std::string_view text, std::int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && out >= 0;
}

// "0,4-7" -> [0,0], [4,7]; false if it is no list of ranges.
bool parse_ranges(std::string_view text, std::vector<Filter::Range>& out) {
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::size_t dash = item.find('-');
    Filter::Range range{};
    if (!parse_bound(item.substr(0, dash), range.first)) return false;
    range.last = range.first;
    if (dash != std::string_view::npos) {
      const std::string_view last = item.substr(dash + 1);
      if (last.empty()) {
        range.last = INT64_MAX;
      } else if (!parse_bound(last, range.last) || range.last < range.first) {
        return false;
      }
    }
    out.push_back(range);
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

// One KEY=VALUE of --only or --skip; returns what is wrong with it, or nothing.
std::string add_rule(const std::string& text, Filter::Rule& rule) {
  const std::size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (equals == std::string::npos || value.empty()) {
    return fmt::format("expected KEY=VALUE, got '{}'", text);
  }
  if (key == "rank" || key == "iteration") {
    if (parse_ranges(value, key == "rank" ? rule.ranks : rule.iterations)) return {};
    return fmt::format("expected ranges like 0,4-7 or 100- in '{}'", text);
  }
  if (key == "phase") {
    rule.phases.push_back(value);
  } else if (key == "name") {
    rule.names.push_back(value);
  } else {
    return fmt::format("unknown key '{}': use rank, iteration, phase or name", key);
  }
  return {};
}

void add_rule_flag(CLI::App& command, const std::string& flag, Filter::Rule& rule,
                   std::vector<std::string>& filters, const std::string& help) {
  command
      .add_option_function<std::vector<std::string>>(
          flag,
          [flag, &filters](const std::vector<std::string>& items) {
            for (const auto& item : items) filters.push_back(flag + " " + item);
          },
          help)
      ->check([&rule](const std::string& text) { return add_rule(text, rule); })
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

Result<ExitCode> run_compare(CompareOptions& options, const std::vector<std::string>& argv) {
  if (options.a == "-" && options.b == "-") {
    return Error{Errc::usage, "-", "only one of A and B can be standard input", ""};
  }
  auto a = formats::open_run(options.a, options.open);
  if (!a) return std::move(a).error();
  auto b = formats::open_run(options.b, options.open);
  if (!b) return std::move(b).error();
  ProgressLine line(options.progress, **a, **b);
  options.compare.progress = line.counters();
  options.compare.iteration_offset = options.offset;
  auto comparison = compare::compare_runs(**a, **b, options.compare);
  line.finish();
  if (!comparison) return std::move(comparison).error();

  report::Context context;
  context.version = std::string(version_info::version);
  context.argv = argv;
  context.inputs = {report::make_input((*a)->info()), report::make_input((*b)->info())};
  context.filters = options.filters;
  const auto report = report::Report::make(*comparison, context);
  const bool to_screen = options.output.empty();
  report::TextOptions text;
  text.color = to_screen ? report::use_color(options.color, stdout)
                         : options.color == report::When::always;
  if (to_screen && report::is_terminal(stdout)) {
    const report::Screen screen = report::screen(stdout);
    text.width = screen.width;
    text.height = screen.height;
  }
  text.max_rows = options.max_rows;
  text.quiet = options.quiet;
  text.verbosity = options.verbosity;
  const std::string out = options.format == "json" ? report.json() : report.text(text);
  if (auto written = write_output(options.output, out); !written) return std::move(written).error();
  return static_cast<ExitCode>(report.exit_status());
}

}  // namespace

void add_compare(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare", "Compare the logs of two runs: same, or the first divergent tensor");
  command->footer("Exit status: 0 same, 1 divergent, 2 trouble, 3 inconclusive. There is no numeric\n"
                  "tolerance: it would hide what this compares for.");
  command->add_option("A", options->a, "Log of a run: a file, a folder, or - for standard input")
      ->required();
  command->add_option("B", options->b, "Log of the other run")->required();
  command->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "Write the report to FILE")->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "--require",
          [options](const std::string& text) { options->compare.require = *parse_evidence(text); },
          "Least evidence for \"same\": rounded (default), statistics, sampled, order_blind,\n"
          "checksum or strong")
      ->check(CLI::IsMember({"rounded", "statistics", "sampled", "order_blind", "checksum", "strong"}))
      ->type_name("LEVEL");
  add_rule_flag(*command, "--only", options->compare.filter.only, options->filters,
                "Compare only rank=0,4-7, iteration=5-8, phase=NAME or name=GLOB (repeatable)");
  add_rule_flag(*command, "--skip", options->compare.filter.skip, options->filters,
                "Leave out what matches, written likewise (repeatable)");
  command
      ->add_option("--iteration-offset", options->offset,
                   "Iteration of B minus iteration of A (default: found from agreement)")
      ->type_name("N");
  command
      ->add_option_function<std::string>(
          "--resume",
          [options](const std::string& text) {
            options->compare.resume =
                text == "off" ? compare::Resume::off : compare::Resume::automatic;
          },
          "auto: compare the overlap of a fresh and a resumed run; off: what only one run\n"
          "recorded is missing in the other")
      ->check(CLI::IsMember({"auto", "off"}))
      ->type_name("MODE");
  command->add_option("--max-rows", options->max_rows, "Rows of a table, 0 for all")
      ->capture_default_str();
  command->add_option("-j,--jobs", options->compare.jobs, "Ranks read at once, 0 for one a core")
      ->check(CLI::Range(0u, 1024u))
      ->capture_default_str();
  add_color_flag(*command, options->color);
  command
      ->add_option_function<std::string>(
          "--progress",
          [options](const std::string& text) { options->progress = *report::parse_when(text); },
          "Progress on standard error: auto (on a terminal), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  auto* quiet = command->add_flag("-q,--quiet", options->quiet, "Print the verdict line only");
  command->add_flag("-v,--verbose", options->verbosity, "Print evidence by kind and later findings")
      ->excludes(quiet);
  command->add_flag("--git-bisect", invocation.git_bisect,
                    "Exit with 125 (skip) in place of 2 and 3, for git bisect run");
  add_limit_flags(*command, options->open);
  command->callback([options, &invocation] {
    invocation.run = [options, &invocation] { return run_compare(*options, invocation.argv); };
  });
}

}  // namespace detdiff::cli
