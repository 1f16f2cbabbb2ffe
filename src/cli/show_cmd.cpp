#include "cli/command.hpp"
#include "report/report.hpp"

namespace detdiff::cli {
namespace {

struct ShowOptions {
  std::string log, site;
  formats::OpenOptions open;
  std::string format = "text";
  report::When color = report::When::automatic;
};

Result<ExitCode> run_show(ShowOptions& options) {
  auto run = formats::open_run(options.log, options.open);
  if (!run) return std::move(run).error();
  return ExitCode::same;
}

}  // namespace

void add_show(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app.add_subcommand("show", "Show what a log holds, or a saved report again");
  command->add_option("LOG", options->log, "A log, or a report that compare --format json wrote")
      ->required();
  command->add_option("SITE", options->site, "Print the records of this site");
  add_limit_flags(*command, options->open);
  command->callback([options, &invocation] {
    invocation.run = [options] { return run_show(*options); };
  });
}

}  // namespace detdiff::cli
