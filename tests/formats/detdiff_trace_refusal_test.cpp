#include <string>
#include <string_view>
#include <vector>

#include "formats/trace_feed.hpp"
#include "support/catch.hpp"

namespace detdiff::formats {
namespace {

using test::Feed;

struct Refusal {
  std::string line;
  Errc code;
  std::string_view message;
};

TEST_CASE("Records that break the rules are refused with the reason", "[trace]") {
  const std::string big(65537, 'n');
  std::string prints = "{}";
  for (int i = 0; i < 4096; ++i) prints += ",{}";
  std::string extents = "1";
  for (int i = 0; i < 64; ++i) extents += ",1";
  const std::string in_output = R"({"kind":"call","name":"x","outputs":[)";
  const std::vector<Refusal> cases{
      {R"({"name":"x"})", Errc::damaged,
       R"(expected the kind of a record in "kind", but the key is missing)"},
      {R"({"kind":"tensor","name":"x"})", Errc::unsupported,
       "kind \"tensor\" is not known, expected call, boundary, scalar or event"},
      {R"({"kind":"event"})", Errc::damaged,
       R"(expected a "name", "module", "operation", "kernel" or "tensor")"},
      {R"({"kind":"event","phase":"p"})", Errc::damaged,
       R"(expected a "name", "module", "operation", "kernel" or "tensor")"},
      {R"({"kind":"event","name":"x","iteration":-1})", Errc::damaged,
       R"(expected an integer from 0 in "iteration", got -1)"},
      {R"({"kind":"event","name":"x","iteration":1.0})", Errc::damaged,
       R"(expected an integer from 0 in "iteration", got 1.0)"},
      {R"({"kind":"event","name":"x","microbatch":true})", Errc::damaged,
       R"(expected an integer from 0 in "microbatch", got true)"},
      {R"({"kind":"event","name":"x","iteration":9223372036854775808})", Errc::damaged,
       R"(expected an integer from 0 in "iteration", got 9223372036854775808)"},
      {R"({"kind":"event","name":"x","occurrence":4294967296})", Errc::damaged,
       R"(expected an integer below 2^32 in "occurrence", got 4294967296)"},
      {R"({"kind":"event","name":7})", Errc::damaged, R"(expected a string in "name", got 7)"},
      {R"({"kind":"event","name":"x","recompute":1})", Errc::damaged,
       R"(expected true or false in "recompute", got 1)"},
      {R"({"kind":"event","name":")" + big + R"("})", Errc::limit,
       R"(expected at most 65536 bytes of text in "name", got more)"},
      {R"({"kind":"event","name":"x","outputs":[]})", Errc::damaged,
       R"(expected no "outputs" in an event)"},
      {R"({"kind":"event","name":"x","inputs":[]})", Errc::damaged,
       R"(expected no "inputs" in an event)"},
      {R"({"kind":"boundary","name":"x"})", Errc::damaged,
       R"(expected one fingerprint in a boundary in "outputs", but the key is missing)"},
      {R"({"kind":"boundary","name":"x","outputs":[{},{}]})", Errc::damaged,
       R"(expected one fingerprint in a boundary in "outputs", got [{},{}])"},
      {R"({"kind":"scalar","name":"x","outputs":[{}]})", Errc::damaged,
       R"(expected a "value" in a scalar in "outputs", got [{}])"},
      {R"({"kind":"call","name":"x","inputs":{}})", Errc::damaged,
       R"(expected a list of fingerprints in "inputs", got {})"},
      {in_output + "null]}", Errc::damaged, R"(expected objects in "outputs", got null)"},
      {in_output + prints + "]}", Errc::limit,
       R"(expected at most 4096 fingerprints in "outputs", got more)"},
      {in_output + "{}],\"inputs\":[" + prints.substr(3) + "]}", Errc::limit,
       "expected at most 4096 fingerprints in a record, got 4097"},
      {in_output + R"({"shape":[-1]}]})", Errc::damaged,
       R"(expected integers from 0 in "shape", got -1)"},
      {in_output + R"({"shape":[)" + extents + "]}]}", Errc::limit,
       R"(expected at most 64 dimensions in "shape", got more)"},
      {in_output + R"({"digests":{"sha3":"00"}}]})", Errc::unsupported,
       R"(digest kind "sha3" is not known)"},
      {in_output + R"({"digests":{"crc32":"0"}}]})", Errc::damaged,
       R"(expected 8 hex digits in "crc32", got "0")"},
      {in_output + R"({"digests":{"crc32":"0123456g"}}]})", Errc::damaged,
       R"(expected 8 hex digits in "crc32", got "0123456g")"},
      {in_output + R"({"digests":{"crc32":12345678}}]})", Errc::damaged,
       R"(expected 8 hex digits in "crc32", got 12345678)"},
      {in_output + R"({"digests":["crc32"]}]})", Errc::damaged,
       R"(expected objects in "digests", got "crc32")"},
      {in_output + R"({"digests":[{"hex":"00"}]}]})", Errc::damaged,
       R"(expected the kind of a digest in "kind", but the key is missing)"},
      {in_output + R"({"digests":[{"kind":"crc32"}]}]})", Errc::damaged,
       R"(expected hex digits in "hex", but the key is missing)"},
      {in_output + R"({"digests":[{"kind":"crc32","hex":"00000000","scope":-1}]}]})", Errc::damaged,
       R"(expected an integer from 0 in "scope", got -1)"},
      {in_output + R"({"stats":{"a":"NaN"}}]})", Errc::damaged,
       R"(expected a number, "nan", "inf" or "-inf" in "a", got "NaN")"},
      {in_output + R"({"value":"1"}]})", Errc::damaged,
       R"(expected a number, "nan", "inf" or "-inf" in "value", got "1")"},
      {in_output + R"({"value":1,"digits":101}]})", Errc::damaged,
       R"(expected an integer up to 100 in "digits", got 101)"},
      {in_output + R"({"flags":["hot"]}]})", Errc::unsupported, R"(flag "hot" is not known)"},
      {in_output + R"({"flags":"view"}]})", Errc::damaged,
       R"(expected a list in "flags", got "view")"},
      {R"({"kind":"event","name":"x","attributes":[]})", Errc::damaged,
       R"(expected an object in "attributes", got [])"},
      {R"({"kind":"event","name":"x","notes":"why"})", Errc::damaged,
       R"(expected an object in "notes", got "why")"},
      {R"({"kind":"event","name":"x","later":[01]})", Errc::damaged,
       "expected a number without leading zeros at byte 37, found '0'"},
  };
  for (const auto& [line, code, message] : cases) {
    CAPTURE(line.substr(0, 120));
    Feed feed;
    CHECK(feed.error(line) == message);
    CHECK(feed.code() == code);
  }
}

}  // namespace
}  // namespace detdiff::formats
