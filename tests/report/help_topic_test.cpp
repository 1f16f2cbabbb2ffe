#include "report/help_topic.hpp"

#include <string>

#include "report/escape.hpp"
#include "report/manual.hpp"
#include "support/catch.hpp"

using namespace detdiff;
using namespace detdiff::report;

TEST_CASE("without colour and width Markdown stays as it is", "[report]") {
  const std::string text = "# Title\n\nSome **strong** `code`.\n- item\n";
  CHECK(render_markdown(text, false, 0) == text);
}

TEST_CASE("headings and strong words are bold on a terminal", "[report]") {
  CHECK(render_markdown("## Title\n", true, 0) == "\x1b[1mTitle\x1b[0m\n");
  CHECK(render_markdown("a **b** c\n", true, 0) == "a \x1b[1mb\x1b[0m c\n");
  CHECK(render_markdown("`a ** b`\n", true, 0) == "`a ** b`\n");
}

TEST_CASE("paragraphs and items are wrapped, code and tables are not", "[report]") {
  CHECK(render_markdown("one two three\nfour five\n", false, 13) == "one two three\nfour five\n");
  CHECK(render_markdown("one two\nthree four five\n", false, 13) == "one two three\nfour five\n");
  CHECK(render_markdown("- one two three four\n- b\n", false, 13) ==
        "- one two\n  three four\n- b\n");
  CHECK(render_markdown("    code that is long enough\n", false, 10) ==
        "    code that is long enough\n");
  CHECK(render_markdown("```\nlong code line\n```\n", false, 5) == "```\nlong code line\n```\n");
  CHECK(render_markdown("| a long | table row |\n", false, 8) == "| a long | table row |\n");
}

TEST_CASE("a word that is longer than a line stays whole", "[report]") {
  CHECK(render_markdown("a bcdefghij k\n", false, 4) == "a\nbcdefghij\nk\n");
}

TEST_CASE("the manual has its topics, and each begins with a title", "[report]") {
  for (const char* name : {"exit-status", "semantics", "formats", "resume"}) {
    const auto page = render_help_topic(name, false, 80);
    REQUIRE(page);
    CHECK(page->starts_with("# "));
    CHECK(help_topics().find(name) != std::string::npos);
  }
  for (const auto& topic : manual::topics()) {
    for (const char c : topic.text) REQUIRE((c == '\n' || (c >= 0x20 && c < 0x7f)));
  }
}

TEST_CASE("an unknown topic names those that exist", "[report]") {
  const auto page = render_help_topic("exit", false, 80);
  REQUIRE_FALSE(page);
  CHECK(page.error().code == Errc::usage);
  CHECK(page.error().hint.find("exit-status") != std::string::npos);
}
