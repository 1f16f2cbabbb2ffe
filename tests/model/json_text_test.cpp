#include "model/json_text.hpp"

#include <string>
#include <string_view>

#include "support/catch.hpp"

namespace detdiff {
namespace {

TEST_CASE("Invalid UTF-8 is found at its first byte", "[json]") {
  constexpr std::size_t none = std::string_view::npos;
  CHECK(invalid_utf8("") == none);
  CHECK(invalid_utf8("aé€😀\x7f") == none);
  CHECK(invalid_utf8("\xf4\x8f\xbf\xbf") == none);
  CHECK(invalid_utf8("ab\x80") == 2);
  CHECK(invalid_utf8("ab\xc3") == 2);
  CHECK(invalid_utf8("ab\xe2\x82") == 2);
  CHECK(invalid_utf8("ab\xf0\x9f\x98") == 2);
  CHECK(invalid_utf8("\xc1\xbf") == 0);          // overlong
  CHECK(invalid_utf8("\xe0\x9f\xbf") == 0);      // overlong
  CHECK(invalid_utf8("\xf0\x8f\xbf\xbf") == 0);  // overlong
  CHECK(invalid_utf8("\xed\xa0\x80") == 0);      // surrogate
  CHECK(invalid_utf8("\xf4\x90\x80\x80") == 0);  // above U+10FFFF
  CHECK(invalid_utf8("\xff") == 0);
}

TEST_CASE("JSON strings have one spelling", "[json]") {
  const auto written = [](std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
  };
  CHECK(written("") == R"("")");
  CHECK(written("a/b é\x7f") == "\"a/b é\x7f\"");
  CHECK(written("\"\\\b\f\n\r\t") == R"("\"\\\b\f\n\r\t")");
  CHECK(written(std::string_view("\0\x1f", 2)) == R"("\u0000\u001f")");
}

TEST_CASE("Canonical JSON is told from other JSON and from none", "[json]") {
  for (const std::string_view text :
       {"null", "true", "false", "0", "-1", "-0.0", "1.5", "1e+20", "18446744073709551615",
        "-9223372036854775808", R"("")", R"("a\"\\\u0001\n")", "[]", "{}", "[1,[2,{}],null]",
        R"({"":1,"A":2,"a":{"b":[]},"é":3})"}) {
    CAPTURE(text);
    CHECK(is_canonical_json(text));
  }
  for (const std::string_view text : {"",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "1e2",
                                      "-0",
                                      "01",
                                      "+1",
                                      ".5",
                                      "1.",
                                      "NaN",
                                      "nan",
                                      "inf",
                                      "1e400",
                                      "18446744073709551616",
                                      "-9223372036854775809",
                                      "nul",
                                      "truefalse",
                                      R"("a)",
                                      R"("\u0041")",
                                      R"("\/")",
                                      R"("\u000a")",
                                      "\"\n\"",
                                      "\"\xff\"",
                                      "[1,]",
                                      "[,1]",
                                      "[1 ,2]",
                                      "[1",
                                      "[1}",
                                      "{\"a\":1,}",
                                      R"({"b":1,"a":2})",
                                      R"({"a":1,"a":2})",
                                      R"({"a" :1})",
                                      "{a:1}",
                                      "{1:2}",
                                      "1,2",
                                      "[]]",
                                      "\"\\",
                                      "\"\\u",
                                      "\"\\u00"}) {
    CAPTURE(text);
    CHECK_FALSE(is_canonical_json(text));
  }
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  CHECK(is_canonical_json(nested(1022)));
  CHECK_FALSE(is_canonical_json(nested(1023)));
  CHECK_FALSE(is_canonical_json(std::string(1'000'000, '[')));
}

}  // namespace
}  // namespace detdiff
