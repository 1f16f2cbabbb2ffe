#include "cli/command.hpp"
#include "report/help_topic.hpp"

namespace detdiff::cli {

void add_help(CLI::App& app, Invocation& invocation) {
  struct Options {
    std::string topic;
    report::When color = report::When::automatic;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("help", "Read the manual");
  command->add_option("TOPIC", options->topic, "A topic; without one, the list of topics");
  add_color_flag(*command, options->color);
  command->callback([options, &app, &invocation] {
    invocation.run = [options, &app]() -> Result<ExitCode> {
      if (options->topic.empty()) {
        auto done = write_output("", app.help() + "\n" + report::help_topics());
        if (!done) return std::move(done).error();
        return ExitCode::same;
      }
      auto text = report::render_help_topic(options->topic, report::use_color(options->color, stdout),
                                            report::screen(stdout).width);
      if (!text) return std::move(text).error();
      if (auto done = write_output("", *text); !done) return std::move(done).error();
      return ExitCode::same;
    };
  });
}

}  // namespace detdiff::cli
