#include "detdiff/site.hpp"

#include <random>

#include "support/catch.hpp"

using namespace detdiff;

TEST_CASE("a site prints coarse to fine and reads back", "[site]") {
  Site site;
  site.rank = 1;
  site.iteration = 3;
  site.microbatch = 1;
  site.phase = "backward";
  site.module = "decoder.layers.1.mlp.linear_fc2";
  site.tensor = "weight.grad";
  site.name = "decoder.layers.1.mlp.linear_fc2.weight.grad";
  const std::string text = to_string(site);
  CHECK(text == "iteration=3,microbatch=1,phase=backward,module=decoder.layers.1.mlp.linear_fc2,"
                "tensor=weight.grad,rank=1");
  auto parsed = parse_site(text);
  REQUIRE(parsed);
  CHECK(*parsed == site);
}

TEST_CASE("any text survives printing and parsing", "[site]") {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const auto text = [&random] {
      std::string out(random() % 6, ' ');
      for (char& c : out) c = static_cast<char>(random() % 256);
      return out;
    };
    Site site;
    if (random() % 2) site.rank = static_cast<std::uint32_t>(random() % 100);
    if (random() % 2) site.iteration = static_cast<std::int64_t>(random());
    site.phase = text();
    site.module = text();
    site.operation = text();
    site.tensor = text();
    site.occurrence = static_cast<std::uint32_t>(random() % 3);
    site.name = "x" + text();
    const std::string printed = to_string(site);
    CHECK(printed.find_first_of(" '\"$`\\*?\n") == std::string::npos);
    auto parsed = parse_site(printed);
    REQUIRE(parsed);
    CHECK(*parsed == site);
    auto pattern = parse_site_pattern(printed);
    REQUIRE(pattern);
    CHECK(matches(*pattern, site));
  }
}

TEST_CASE("what is no site is refused with the culprit named", "[site]") {
  for (const char* text : {"", "x", "iteration=a", "iteration=", "layer=3", "rank=-1",
                           "phase=%zz", "rank=1,rank=2", "iteration=99999999999999999999"}) {
    auto parsed = parse_site(text);
    CAPTURE(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == Errc::usage);
    CHECK_FALSE(parsed.error().hint.empty());
  }
}

TEST_CASE("patterns match by level with wildcards", "[site]") {
  Site site;
  site.iteration = 3;
  site.module = "decoder.layers.11.mlp";
  site.phase = "forward";
  const auto hit = [&site](const char* text) { return matches(*parse_site_pattern(text), site); };
  CHECK(hit("module=decoder.layers.*.mlp"));
  CHECK(hit("iteration=3,phase=f?rward"));
  CHECK_FALSE(hit("iteration=4"));
  CHECK_FALSE(hit("module=decoder"));
  CHECK_FALSE(hit("module=decoder%2A"));
  CHECK_FALSE(hit("occurrence=1"));
}

TEST_CASE("sites order from iteration to tensor", "[site]") {
  Site early;
  early.iteration = 1;
  early.phase = "z";
  Site late;
  late.iteration = 2;
  late.phase = "a";
  Site finer = early;
  finer.tensor = "t";
  // The rank comes last of the levels: one place on all ranks stays together.
  early.rank = 5;
  CHECK(early < late);
  CHECK(early < finer);
}
