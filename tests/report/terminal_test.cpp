#include "report/terminal.hpp"

#include <cstdio>

#include "report/table.hpp"
#include "support/catch.hpp"

using namespace detdiff::report;

TEST_CASE("the colour option is stronger than the environment", "[report]") {
  CHECK(decide_color(When::always, {"1", "", "dumb", false}));
  CHECK_FALSE(decide_color(When::never, {"", "1", "xterm", true}));
}

TEST_CASE("NO_COLOR beats CLICOLOR_FORCE, which beats the terminal", "[report]") {
  CHECK_FALSE(decide_color(When::automatic, {"1", "1", "xterm", true}));
  CHECK(decide_color(When::automatic, {"", "1", "dumb", false}));
  CHECK_FALSE(decide_color(When::automatic, {"", "0", "xterm", false}));
  CHECK(decide_color(When::automatic, {"", "0", "xterm", true}));
}

TEST_CASE("colour needs a terminal that is not dumb", "[report]") {
  CHECK(decide_color(When::automatic, {"", "", "xterm-256color", true}));
  CHECK(decide_color(When::automatic, {"", "", "", true}));
  CHECK_FALSE(decide_color(When::automatic, {"", "", "dumb", true}));
  CHECK_FALSE(decide_color(When::automatic, {"", "", "xterm", false}));
}

TEST_CASE("when is spelled auto, always or never", "[report]") {
  CHECK(parse_when("auto") == When::automatic);
  CHECK(parse_when("always") == When::always);
  CHECK(parse_when("never") == When::never);
  CHECK_FALSE(parse_when("yes"));
}

TEST_CASE("a file is no screen", "[report]") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  CHECK_FALSE(is_terminal(file));
  CHECK(screen(file).width == 0);
  CHECK(screen(file).height == 0);
  std::fclose(file);
}

TEST_CASE("numbers have thousands separators whatever the locale", "[report]") {
  CHECK(number(0) == "0");
  CHECK(number(999) == "999");
  CHECK(number(1000) == "1,000");
  CHECK(number(1234567) == "1,234,567");
  CHECK(number(18446744073709551615ULL) == "18,446,744,073,709,551,615");
  CHECK(count_of(1, "rank") == "1 rank");
  CHECK(count_of(2048, "rank") == "2,048 ranks");
}

TEST_CASE("a table aligns by columns on the screen", "[report]") {
  Table table({{"rank", Table::Align::right}, {"class"}, {"first"}});
  table.add({"7", "origin", "\xe6\x97\xa5"});
  table.add({"12", "receiver", "x"});
  CHECK(table.lines(0) == std::vector<std::string>{"rank  class     first",
                                                   "   7  origin    \xe6\x97\xa5",
                                                   "  12  receiver  x"});
}

TEST_CASE("a table that is too wide shrinks its elastic columns only", "[report]") {
  Table table({{"rank", Table::Align::right}, {"first", Table::Align::left, true}});
  table.add({"7", "decoder.layers.1.mlp.linear_fc2.weight.grad"});
  const auto lines = table.lines(30);
  CHECK(lines[1] == "   7  decoder.la...weight.grad");
  CHECK(table.lines(4)[1] == "   7  deco....grad");  // not below 12 columns
}

TEST_CASE("columns without content are left out", "[report]") {
  Table table({{"run"}, {"end"}, {"file"}});
  table.add({"A", "", "x"});
  CHECK(table.lines(0) == std::vector<std::string>{"run  file", "A    x"});
}
