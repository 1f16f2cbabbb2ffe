#include "formats/detdiff_trace.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/trace_feed.hpp"
#include "support/catch.hpp"

namespace detdiff::formats {
namespace {

using test::Feed;
using test::k_header;

TEST_CASE("A trace record carries every field of the model", "[trace]") {
  Feed feed;
  const Record record = feed.record(
      R"({"kind":"call","sequence":17,"iteration":3,"microbatch":1,"phase":"forward",)"
      R"("module":"decoder.layers.0.mlp","operation":"aten.mm.default","kernel":"gemm",)"
      R"("name":"mm","occurrence":2,"group":"tp","recompute":true,"inputs":[{"tensor":"self",)"
      R"("dtype":"torch.bfloat16","shape":[8,16],"digests":{"crc32":"0123abCD",)"
      R"("xor64-f64":"00000000000000ff"},)"
      R"("flags":["view","in_place","uninitialised","asynchronous"]},{}],"outputs":[)"
      R"({"value":1.50,"digits":5,)"
      R"("stats":{"mean":-0.0,"max":"inf","min":"-inf","l2":"nan","n":7}},{"digests":[)"
      R"({"kind":"crc32","hex":"00000001","scope":18446744073709551615,"sampled":true},)"
      R"({"hex":"00000002","kind":"crc32"}]}],"attributes":{"b":{"y":1.0,"x":[ ]},"a":null},)"
      R"("notes":{"caller":"train.py:12"},"later":[1]})");
  CHECK(record.kind == RecordKind::call);
  CHECK(record.site.rank == 3U);
  CHECK(record.site.iteration == 3);
  CHECK(record.site.microbatch == 1);
  CHECK(record.site.phase == "forward");
  CHECK(record.site.module == "decoder.layers.0.mlp");
  CHECK(record.site.operation == "aten.mm.default");
  CHECK(record.site.kernel == "gemm");
  CHECK(record.site.tensor.empty());
  CHECK(record.site.name == "mm");
  CHECK(record.site.occurrence == 2);
  CHECK(feed.out().occurrence_given);
  CHECK(record.sequence == 17);
  CHECK(record.group == "tp");
  CHECK(record.recompute);
  REQUIRE(record.inputs_recorded);
  REQUIRE(record.inputs.size() == 2);
  const Fingerprint& self = record.inputs[0];
  CHECK(self.tensor == "self");
  CHECK(self.dtype == "bfloat16");
  CHECK(self.has_shape);
  CHECK(self.shape == std::vector<std::int64_t>{8, 16});
  REQUIRE(self.digests.size() == 2);
  CHECK(self.digests[0].kind == DigestKind::crc32);
  CHECK(self.digests[0].hex() == "0123abcd");
  CHECK(self.digests[1].kind == DigestKind::xor64_f64);
  CHECK((self.view && self.in_place && self.uninitialised && self.asynchronous));
  CHECK_FALSE(record.inputs[1].has_shape);
  CHECK_FALSE(record.inputs[1].has_values());
  REQUIRE(record.outputs.size() == 2);
  CHECK(record.outputs[0].value == "1.5");
  CHECK(record.outputs[0].printed_digits == 5);
  REQUIRE(record.outputs[0].statistics.size() == 5);
  CHECK(std::signbit(record.outputs[0].statistics[0].value));
  CHECK(record.outputs[0].statistics[1].value == HUGE_VAL);
  CHECK(record.outputs[0].statistics[2].value == -HUGE_VAL);
  CHECK(std::isnan(record.outputs[0].statistics[3].value));
  CHECK(record.outputs[0].statistics[4].name == "n");
  REQUIRE(record.outputs[1].digests.size() == 2);
  CHECK(record.outputs[1].digests[0].scope == UINT64_MAX);
  CHECK(record.outputs[1].digests[0].sampled);
  CHECK(record.outputs[1].digests[1].scope == 0);
  REQUIRE(record.attributes.size() == 2);
  CHECK(record.attributes[0] == Attribute{"a", "null"});
  CHECK(record.attributes[1] == Attribute{"b", R"({"x":[],"y":1})"});
}

TEST_CASE("Absent, null and empty are told apart", "[trace]") {
  Feed feed;
  const Record bare = feed.record(R"({"kind":"call","operation":"aten.add.Tensor"})");
  CHECK(bare.site.name == "aten.add.Tensor");
  CHECK_FALSE(bare.site.iteration);
  CHECK_FALSE(bare.inputs_recorded);
  CHECK(bare.outputs.empty());
  CHECK_FALSE(feed.out().occurrence_given);
  CHECK(feed.out().spans.empty());
  CHECK_FALSE(feed.parser().ordered());
  CHECK(feed.record(R"({"kind":"call","name":"x","inputs":[]})").inputs_recorded);
  const Record nulls = feed.record(
      R"({"kind":"call","name":"x","sequence":null,"iteration":null,"microbatch":null,)"
      R"("phase":null,"module":null,"operation":null,"kernel":null,"tensor":null,)"
      R"("occurrence":null,"group":null,)"
      R"("recompute":null,"inputs":null,"outputs":[{"tensor":null,"dtype":null,"shape":null,)"
      R"("digests":null,"stats":null,"value":null,"digits":null,"flags":null}],"attributes":null,)"
      R"("notes":null,"end":null,"detdiff_trace":null})");
  CHECK_FALSE(nulls.inputs_recorded);
  CHECK_FALSE(feed.out().occurrence_given);
  CHECK_FALSE(nulls.outputs.at(0).has_shape);
  CHECK(feed.record(R"({"kind":"boundary","name":"x","outputs":[{"shape":[]}]})")
            .outputs[0]
            .has_shape);
}

TEST_CASE("A record without a name is named by its site", "[trace]") {
  Feed feed;
  const auto name = [&feed](std::string_view levels) {
    return feed.record(R"({"kind":"event",)" + std::string(levels) + "}").site.name;
  };
  CHECK(name(R"("module":"m","tensor":"weight.grad","operation":"o")") == "m.weight.grad");
  CHECK(name(R"("tensor":"loss")") == "loss");
  CHECK(name(R"("module":"m","operation":"o","kernel":"k")") == "o");
  CHECK(name(R"("module":"m","kernel":"k")") == "m");
  CHECK(name(R"("kernel":"k")") == "k");
  CHECK(name(R"("kernel":"k","name":"n")") == "n");
  CHECK(name(R"("kernel":"k","name":"")") == "k");
}

TEST_CASE("Spans cover what changes between iterations", "[trace]") {
  Feed feed;
  const std::string text =
      R"({"outputs":[{},{"value":-1.5e3,"stats":{"a":1,"b":"nan","c":2.5},)"
      R"("digests":{"crc32":"0a0b0c0d"}}],"inputs":[{"value":7,"stats":{"a":1},"digests":[)"
      R"({"kind":"md5","hex":"00112233445566778899aabbccddeeff"},)"
      R"({"kind":"crc32","hex":"\u0030aaaaaaa"}]}],"sequence":12,"iteration":345,"microbatch":6,)"
      R"("occurrence":8,"kind":"call","name":"x"})";
  feed.record(text);
  struct Expected {
    Span::Role role;
    std::string_view text;
    int tensor, item;
  };
  const std::vector<Expected> expected{
      {Span::Role::value, "-1.5e3", 1, 0},
      {Span::Role::statistic, "1", 1, 0},
      {Span::Role::statistic, "2.5", 1, 2},
      {Span::Role::digest, "0a0b0c0d", 1, 0},
      {Span::Role::in_digest, "00112233445566778899aabbccddeeff", 0, 0},
      {Span::Role::sequence, "12", 0, 0},
      {Span::Role::iteration, "345", 0, 0},
  };
  const auto& spans = feed.out().spans;
  REQUIRE(spans.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(spans[i].role == expected[i].role);
    CHECK(text.substr(spans[i].begin, spans[i].end - spans[i].begin) == expected[i].text);
    CHECK(spans[i].tensor == expected[i].tensor);
    CHECK(spans[i].item == expected[i].item);
  }
}

TEST_CASE("Either all records of a segment are numbered or none", "[trace]") {
  const std::string numbered = R"({"kind":"event","name":"x","sequence":0})";
  const std::string bare = R"({"kind":"event","name":"x"})";
  Feed feed;
  feed.record(numbered);
  CHECK(feed.parser().ordered());
  CHECK(feed.error(bare) == "expected a \"sequence\" as in the record before");
  REQUIRE(feed.line(k_header).ok());
  feed.record(bare);
  CHECK_FALSE(feed.parser().ordered());
  CHECK(feed.error(numbered) == "expected no \"sequence\" as in the record before");
}

TEST_CASE("Headers and trailers frame segments", "[trace]") {
  const std::string event = R"({"kind":"event","name":"x"})";
  Feed feed(false);
  CHECK(feed.error(event) == "expected a header with \"detdiff_trace\" in the first line");
  CHECK(feed.error(R"({"end":true,"records":0})") ==
        "expected a header with \"detdiff_trace\" in the first line");
  REQUIRE(feed.line(k_header).ok());
  CHECK(feed.out().kind == ParsedLine::Kind::header);
  feed.record(event);
  CHECK(feed.error(R"({"end":false,"records":1})") == R"(expected true in "end", got false)");
  CHECK(feed.error(R"({"end":true})") ==
        R"(expected an integer from 0 in "records", but the key is missing)");
  REQUIRE(feed.line(R"({"records":1,"end":true})").ok());
  CHECK(feed.out().kind == ParsedLine::Kind::trailer);
  CHECK(feed.out().record.sequence == 1);
  CHECK(feed.error(event) == "expected a header with \"detdiff_trace\" behind a trailer");
  CHECK(feed.error(R"({"detdiff_trace":1,"rank":4})") ==
        "expected rank 3 in the header of another segment, got rank 4");
  CHECK(feed.error(R"({"detdiff_trace":1})") ==
        "expected rank 3 in the header of another segment, got no rank");
  REQUIRE(feed.line(R"({"run_id":"other","rank":3,"detdiff_trace":1})").ok());
  CHECK(feed.record(event).site.rank == 3U);
  feed.parser().reset();  // a jump: no header is asked for
  CHECK(feed.record(event).site.rank == 3U);
}

}  // namespace
}  // namespace detdiff::formats
