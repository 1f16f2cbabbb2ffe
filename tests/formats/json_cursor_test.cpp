#include "formats/json_cursor.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace detdiff::formats {
namespace {

using Kind = JsonToken::Kind;

// A line with bytes behind it that must not matter.
struct Text {
  explicit Text(std::string_view line) : bytes(std::string(line) + std::string(64, '"')) {
    view = std::string_view(bytes).substr(0, line.size());
  }
  std::string bytes;
  std::string_view view;
};

std::string error_of(std::string_view line) {
  const Text text(line);
  JsonLine parsed;
  const auto done = parsed.parse(text.view);
  if (done) return "accepted";
  CHECK(done.error().where.empty());
  CHECK(parsed.nodes().empty());
  return done.error().message;
}

std::string canonical_of(std::string_view line) {
  const Text text(line);
  JsonLine parsed;
  REQUIRE(parsed.parse(text.view).ok());
  return canonical_json(parsed, 0);
}

TEST_CASE("JsonLine lists nodes in document order with keys, depths and siblings", "[json]") {
  const Text text(R"( {"a" : [1, -2.5e3, {"b":null}], "c":"x", "d":{}, "e":true } )");
  JsonLine line;
  REQUIRE(line.parse(text.view).ok());
  struct Expected {
    Kind kind;
    std::string_view raw, key;
    std::uint32_t depth, next;
  };
  const std::vector<Expected> expected{
      {Kind::object, R"({"a" : [1, -2.5e3, {"b":null}], "c":"x", "d":{}, "e":true })", "", 0, 9},
      {Kind::array, R"([1, -2.5e3, {"b":null}])", "a", 1, 6},
      {Kind::integer, "1", "", 2, 3},
      {Kind::number, "-2.5e3", "", 2, 4},
      {Kind::object, R"({"b":null})", "", 2, 6},
      {Kind::null, "null", "b", 3, 6},
      {Kind::string, R"("x")", "c", 1, 7},
      {Kind::object, "{}", "d", 1, 8},
      {Kind::boolean, "true", "e", 1, 9},
  };
  REQUIRE(line.nodes().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    const JsonLine::Node& node = line.nodes()[i];
    CHECK(node.token.kind == expected[i].kind);
    CHECK(node.token.raw == expected[i].raw);
    CHECK(node.key == expected[i].key);
    CHECK(node.depth == expected[i].depth);
    CHECK(node.next == expected[i].next);
    CHECK(text.view.substr(line.offset(node), node.token.raw.size()) == node.token.raw);
  }
}

TEST_CASE("JsonLine decodes keys and text", "[json]") {
  const Text text(
      R"({"k\u0065y":"\"\\\/\b\f\n\r\t\u0000\u00e9\u20ac\ud83d\ude00é","plain":"plain"})");
  JsonLine line;
  REQUIRE(line.parse(text.view).ok());
  CHECK(line.nodes()[1].key == "key");
  CHECK(line.text(line.nodes()[1]) == std::string_view("\"\\/\b\f\n\r\t\0é€😀é", 20));
  const std::string_view plain = line.text(line.nodes()[2]);
  CHECK(plain == "plain");
  CHECK(plain.data() > text.view.data());  // no copy
  CHECK(plain.data() < text.view.data() + text.view.size());
}

TEST_CASE("JsonLine is used again after errors and larger lines", "[json]") {
  JsonLine line;
  for (int round = 0; round < 3; ++round) {
    const Text large(R"({"\u0061":")" + std::string(5000, 'x') + R"(\n"})");
    REQUIRE(line.parse(large.view).ok());
    CHECK(line.text(line.nodes()[1]).size() == 5001);
    CHECK_FALSE(line.parse(Text("{").view).ok());
    const Text small(R"({"\u0062":"\u0063"})");
    REQUIRE(line.parse(small.view).ok());
    CHECK(line.nodes().size() == 2);
    CHECK(line.nodes()[1].key == "b");
    CHECK(line.text(line.nodes()[1]) == "c");
  }
}

TEST_CASE("JsonLine says what is wrong and at which byte", "[json]") {
  const std::vector<std::pair<std::string_view, std::string_view>> cases{
      {"", "expected a JSON object at byte 1, found the end of the line"},
      {"[1]", "expected a JSON object at byte 1, found '['"},
      {"{", "expected '\"' of a key at byte 2, found the end of the line"},
      {R"({"a")", "expected ':' behind a key at byte 5, found the end of the line"},
      {R"({"a":)", "expected a value at byte 6, found the end of the line"},
      {R"({"a":1)", "expected ',' or '}' at byte 7, found the end of the line"},
      {R"({"a":1,})", "expected '\"' of a key at byte 8, found '}'"},
      {R"({"a":[1,]})", "expected a value at byte 9, found ']'"},
      {R"({"a":[1})", "expected ',' or ']' at byte 8, found '}'"},
      {R"({"a":1 "b":2})", "expected ',' or '}' at byte 8, found '\"'"},
      {R"({"a":1} x)", "expected the end of the line at byte 9, found 'x'"},
      {R"({"a":1}{})", "expected the end of the line at byte 8, found '{'"},
      {R"({"a":tru})", "expected true at byte 9, found '}'"},
      {R"({"a":'b'})", "expected a value at byte 6, found '''"},
      {R"({"a":é})", "expected a value at byte 6, found 'é'"},
      {R"({"a":01})", "expected a number without leading zeros at byte 6, found '0'"},
      {R"({"a":-})", "expected a digit at byte 7, found '}'"},
      {R"({"a":1.})", "expected a digit at byte 8, found '}'"},
      {R"({"a":1e+})", "expected a digit at byte 9, found '}'"},
      {R"({"a":+1})", "expected a value at byte 6, found '+'"},
      {R"({"a":NaN})", "expected a finite number at byte 6, found 'N'"},
      {R"({"a":-Infinity})", "expected a finite number at byte 7, found 'I'"},
      {R"({"a":1e400})", "number not finite at byte 6: 1e400"},
      {R"({"a":-1e400})", "number not finite at byte 6: -1e400"},
      {R"({"a":18446744073709551616})", "number past 64 bits at byte 6: 18446744073709551616"},
      {R"({"a":-9223372036854775809})", "number past 64 bits at byte 6: -9223372036854775809"},
      {R"({"a":"b)", "expected '\"' at the end of a string at byte 8, found the end of the line"},
      {R"({"a":"\x"})", "expected an escape of JSON at byte 8, found 'x'"},
      {R"({"a":"\u12g4"})", "expected an escape of JSON at byte 8, found 'u'"},
      {R"({"a":"\ud800"})", "expected a pair of surrogates at byte 8, found 'u'"},
      {R"({"a":"\udc00"})", "expected a pair of surrogates at byte 8, found 'u'"},
      {R"({"a":"\ud800\u0041"})", "expected a pair of surrogates at byte 8, found 'u'"},
      {"{\"a\":\"\x01\"}", "expected text at byte 7, found the control character 0x01"},
      {"{\"a\":\"\n\"}", "expected text at byte 7, found the control character 0x0a"},
      {std::string_view("{\"a\":\0}", 7),
       "expected a value at byte 6, found the control character 0x00"},
      {"{\"a\":\"\xff\"}", "invalid UTF-8 at byte 7"},
      {"{\"a\":\"\xc0\xaf\"}", "invalid UTF-8 at byte 7"},
      {"{\"a\":\"\xed\xa0\x80\"}", "invalid UTF-8 at byte 7"},
      {R"({"a":1,"b":2,"a":3})", "duplicate key \"a\" in an object, second one at byte 18"},
      {R"({"x":[{"\u0061":1,"a":2}]})", "duplicate key \"a\" in an object, second one at byte 23"},
      {"\xef\xbb\xbf{}", "expected a JSON object at byte 1, found '\xef\xbb\xbf'"},
  };
  for (const auto& [line, message] : cases) {
    CAPTURE(line);
    CHECK(error_of(line) == message);
  }
}

TEST_CASE("JsonLine takes every number that fits", "[json]") {
  for (const std::string_view number :
       {"0", "-0", "9223372036854775807", "-9223372036854775808", "18446744073709551615"}) {
    const Text text("{\"a\":" + std::string(number) + "}");
    JsonLine line;
    REQUIRE(line.parse(text.view).ok());
    CHECK(line.nodes()[1].token.kind == Kind::integer);
  }
  for (const std::string& number :
       {std::string("1.7976931348623157e308"), std::string("1e-400"), std::string("0e999999999"),
        std::string("0.") + std::string(400, '0') + "1e400", std::string(300, '1') + ".5",
        std::string("0.") + std::string(1000, '0') + "1e400", std::string("-0.0")}) {
    const Text text("{\"a\":" + number + "}");
    JsonLine line;
    CAPTURE(number);
    REQUIRE(line.parse(text.view).ok());
    CHECK(line.nodes()[1].token.kind == Kind::number);
  }
  CHECK(error_of("{\"a\":" + std::string(310, '1') + ".5}").starts_with("number not finite"));
  CHECK(error_of("{\"a\":0.01e311}").starts_with("number not finite"));
}

TEST_CASE("JsonLine limits depth and number of values", "[json]") {
  const auto nested = [](std::size_t levels) {
    return "{\"a\":" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  CHECK(error_of(nested(JsonLine::max_depth)) == "accepted");
  CHECK(error_of(nested(JsonLine::max_depth + 1)) ==
        "JSON nested deeper than 1024 levels at byte 1029");
  CHECK(error_of("{\"a\":" + std::string(1'000'000, '[')).starts_with("JSON nested deeper"));
  std::string wide = "{\"a\":[0";
  for (std::size_t i = 3; i < JsonLine::max_nodes; ++i) wide += ",0";
  CHECK(error_of(wide + "]}") == "accepted");
  CHECK(error_of(wide + ",0]}") == "more than 1048576 JSON values in one line");
}

TEST_CASE("JsonLine finds duplicates in large objects", "[json]") {
  std::string line = "{";
  for (int i = 0; i < 5000; ++i) line += "\"key " + std::to_string(i) + "\":0,";
  CHECK(error_of(line + "\"other\":0}") == "accepted");
  CHECK(error_of(line + "\"key 17\":0}").starts_with("duplicate key \"key 17\""));
  CHECK(error_of(line + R"("key \u0031":0})").starts_with("duplicate key \"key 1\""));
  CHECK(error_of(R"({"":1,"":2})").starts_with("duplicate key \"\""));
}

TEST_CASE("Equal values have one canonical text", "[json]") {
  CHECK(canonical_of(R"({ "b" : [ 1.0 , 2 ] , "a" : { } })") == R"({"a":{},"b":[1,2]})");
  CHECK(canonical_of(R"({"a":"\u0041\/\u001f\n\u00e9"})") == R"({"a":"A/\u001f\né"})");
  CHECK(canonical_of(R"({"a":1e0})") == canonical_of(R"({"a":1})"));
  CHECK(canonical_of(R"({"a":1e-400})") == canonical_of(R"({"a":0.0})"));
  CHECK(canonical_of(R"({"a":-1e-400})") == canonical_of(R"({"a":-0.0})"));
  CHECK(canonical_of(R"({"a":-0.0})") != canonical_of(R"({"a":0.0})"));
  CHECK(canonical_of(R"({"a":18446744073709551615})") == R"({"a":18446744073709551615})");
  CHECK(canonical_of(R"({"a":9007199254740993})") != canonical_of(R"({"a":9007199254740992})"));
  CHECK(canonical_of(R"({"é":1,"z":2,"":3})") == R"({"":3,"z":2,"é":1})");
}

}  // namespace
}  // namespace detdiff::formats
