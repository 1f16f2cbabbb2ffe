#include "report/escape.hpp"

#include <string>

#include "report/shell.hpp"
#include "report/utf8.hpp"
#include "support/catch.hpp"

using namespace detdiff::report;

TEST_CASE("plain text and paths are left as they are", "[report]") {
  CHECK(escape("decoder.layers.1.mlp") == "decoder.layers.1.mlp");
  CHECK(escape("C:\\runs\\a") == "C:\\runs\\a");
  CHECK(escape("gr\xc3\xb6\xc3\x9f"
               "e \xe6\x97\xa5\xe6\x9c\xac") ==
        "gr\xc3\xb6\xc3\x9f"
        "e \xe6\x97\xa5\xe6\x9c\xac");
  CHECK(escape("").empty());
}

TEST_CASE("control characters become visible", "[report]") {
  CHECK(escape("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(escape("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m");
  CHECK(escape(std::string("\0\x7f", 2)) == "\\x00\\x7f");
  CHECK(escape("\xc2\x80\xc2\x9b\xc2\x9f") == "\\u0080\\u009b\\u009f");
}

TEST_CASE("bidi, zero-width and tag characters become visible", "[report]") {
  CHECK(escape("\xe2\x80\xae") == "\\u202e");
  CHECK(escape("\xe2\x80\x8b\xe2\x80\x8f") == "\\u200b\\u200f");
  CHECK(escape("\xe2\x81\xa6\xe2\x81\xa9") == "\\u2066\\u2069");
  CHECK(escape("\xe2\x80\xa8\xe2\x80\xa9") == "\\u2028\\u2029");
  CHECK(escape("\xef\xbb\xbf") == "\\ufeff");
  CHECK(escape("\xf3\xa0\x81\x81") == "\\U000e0041");
}

TEST_CASE("bytes that are no UTF-8 become visible one by one", "[report]") {
  CHECK(escape("a\xff"
               "b") == "a\\xffb");
  CHECK(escape("\xc0\xaf") == "\\xc0\\xaf");                    // overlong
  CHECK(escape("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // surrogate
  CHECK(escape("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // past U+10FFFF
  CHECK(escape("\xe2\x80") == "\\xe2\\x80");                    // cut short
  CHECK(escape("\xe2\x80z") == "\\xe2\\x80z");
}

TEST_CASE("commands of CI systems are broken up", "[report]") {
  CHECK(escape("##[error]x") == "#\\x23[error]x");
  CHECK(escape("##vso[task.setvariable]") == "#\\x23vso[task.setvariable]");
  CHECK(escape("a # b") == "a # b");
  CHECK(escape("###").find("##") == std::string::npos);
}

TEST_CASE("escaping twice changes nothing", "[report]") {
  const std::string once = escape("a\x1b\xff\xe2\x80\xae##\\\n");
  CHECK(escape(once) == once);
}

TEST_CASE("every single byte and every control code point is safe after escaping", "[report]") {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text{static_cast<char>(first), static_cast<char>(second)};
      const std::string safe = escape(text);
      for (std::size_t at = 0; at < safe.size();) {
        const CodePoint point = decode_utf8(safe, at);
        if (!point.valid || is_control(point.value)) FAIL("bytes " << first << " " << second);
        at += point.size;
      }
    }
  }
}

TEST_CASE("display width counts columns, not bytes", "[report]") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xc3\xb6") == 1);
  CHECK(display_width("\xe6\x97\xa5") == 2);
  CHECK(display_width("e\xcc\x81") == 1);
  CHECK(display_width("\xf0\x9f\x98\x80") == 2);
}

TEST_CASE("text is cut in its middle, visibly", "[report]") {
  CHECK(elide("abcdefghij", 0) == "abcdefghij");
  CHECK(elide("abcdefghij", 10) == "abcdefghij");
  CHECK(elide("abcdefghij", 7) == "ab...ij");
  CHECK(elide("abcdefghij", 3) == "...");
  CHECK(elide("abcdefghij", 2) == "..");
  for (std::size_t width = 4; width < 12; ++width) {
    CHECK(display_width(elide("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
                              "abcdefgh",
                              width)) <= width);
  }
}

TEST_CASE("words are quoted for a shell only where they must be", "[report]") {
  CHECK(shell_quote("runs/a_1.jsonl") == "runs/a_1.jsonl");
  CHECK(shell_quote("iteration=3,module=a.b,rank=1") == "iteration=3,module=a.b,rank=1");
  CHECK(shell_quote("").empty() == false);
  CHECK(shell_quote("") == "''");
  CHECK(shell_quote("a b") == "'a b'");
  CHECK(shell_quote("it's") == "'it'\\''s'");
  CHECK(shell_quote("$(rm x)") == "'$(rm x)'");
  CHECK(shell_quote("~/a*") == "'~/a*'");
  CHECK(shell_quote("=ls") == "'=ls'");
}

TEST_CASE("a word that cannot be shown becomes an ANSI-C quoted word", "[report]") {
  CHECK(shell_quote("a\x1b[31m") == "$'a\\033[31m'");
  CHECK(shell_quote("a\nb'c\\") == "$'a\\012b\\'c\\\\'");
  CHECK(shell_quote("\xff") == "$'\\377'");
  CHECK(shell_quote("\xe2\x80\xae") == "$'\\342\\200\\256'");
  CHECK(shell_quote("##[x]") == "$'#\\043[x]'");
}

TEST_CASE("a command line guards operands that look like options", "[report]") {
  CHECK(command_line({"show"}, {"a", "b c"}) == "detdiff show a 'b c'");
  CHECK(command_line({"show"}, {"-a", "b"}) == "detdiff show -- -a b");
  CHECK(command_line({"compare", "--skip", "name=x"}, {"a", "--b"}) ==
        "detdiff compare --skip name=x -- a --b");
  CHECK(command_line({"show"}, {"-"}).empty());
}

TEST_CASE("text for JSON keeps everything but bytes that are no UTF-8", "[report]") {
  CHECK(to_utf8("a\x1b\xe2\x80\xae") == "a\x1b\xe2\x80\xae");
  CHECK(to_utf8("a\xff\xc3") == "a\\xff\\xc3");
}
