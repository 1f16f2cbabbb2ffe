#include "detdiff/trace_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/random_record.hpp"
#include "support/temp_dir.hpp"

namespace detdiff {
namespace {

struct Collected {
  TraceWriter::Sink sink() {
    return [this](std::string_view block) {
      bytes += block;
      return Result<void>{};
    };
  }
  std::string bytes;
};

TraceWriter writer_on(Collected& to, const TraceHeader& header = {},
                      const TraceWriter::Options& options = {}) {
  auto writer = TraceWriter::create(to.sink(), "trace", header, options);
  REQUIRE(writer.ok());
  return std::move(*writer);
}

Record call() {
  Record record;
  record.kind = RecordKind::call;
  record.site.operation = "aten.mm.default";
  return record;
}

TEST_CASE("A trace is written byte for byte", "[trace]") {
  TraceHeader header;
  header.tool = "test";
  header.rank = 1;
  header.world_size = 2;
  header.coordinates = {{"tp", 1}};
  header.environment = {{"OMP_NUM_THREADS", "1"}};
  header.digests = {DigestKind::crc32};
  Collected to;
  TraceWriter writer = writer_on(to, header, {true, 3});
  CHECK(to.bytes ==
        R"({"detdiff_trace":1,"tool":{"name":"test"},"rank":1,"world_size":2,)"
        R"("coordinates":{"tp":1},"environment":{"OMP_NUM_THREADS":"1"},"digests":["crc32"]})"
        "\n");
  to.bytes.clear();

  Record record = call();
  record.site.iteration = 4;
  record.site.module = "mlp";
  record.inputs_recorded = true;
  record.outputs.resize(1);
  Fingerprint& print = record.outputs[0];
  print.dtype = "torch.float32";
  print.has_shape = true;
  print.shape = {2, 3};
  Digest digest;
  digest.kind = DigestKind::crc32;
  REQUIRE(parse_hex("00ff00ff", digest));
  print.digests = {digest};
  print.statistics = {{"mean", 0.5}, {"max", HUGE_VAL}};
  print.in_place = true;
  record.attributes = {{"reduce_op", "\"SUM\""}};
  record.sequence = 7;
  REQUIRE(writer.write(record, {{"caller", "\"train.py:3\""}}).ok());
  Site site;
  site.iteration = 4;
  site.name = "lm loss";
  REQUIRE(writer.scalar(site, 0.1).ok());
  REQUIRE(writer.scalar(site, -std::nan("")).ok());
  site.name = "step\n";
  REQUIRE(writer.event(site, {{"b", "2"}, {"a", "[]"}}).ok());
  CHECK(writer.records() == 4);
  REQUIRE(writer.finish().ok());
  CHECK(
      to.bytes ==
      R"({"kind":"call","sequence":7,"iteration":4,"module":"mlp","operation":"aten.mm.default",)"
      R"("inputs":[],"outputs":[{"dtype":"float32","shape":[2,3],"digests":{"crc32":"00ff00ff"},)"
      R"("stats":{"mean":0.5,"max":"inf"},"flags":["in_place"]}],)"
      R"("attributes":{"reduce_op":"SUM"},"notes":{"caller":"train.py:3"}})"
      "\n"
      R"({"kind":"scalar","sequence":8,"iteration":4,"name":"lm loss","outputs":[{"value":0.1}]})"
      "\n"
      R"({"kind":"scalar","sequence":9,"iteration":4,"name":"lm loss","outputs":[{"value":"nan"}]})"
      "\n"
      R"({"kind":"event","sequence":10,"iteration":4,"name":"step\n","attributes":{"a":[],"b":2}})"
      "\n"
      R"({"end":true,"records":4})"
      "\n");
}

TEST_CASE("Scalars keep every bit", "[trace]") {
  Collected to;
  TraceWriter writer = writer_on(to);
  Site site;
  site.name = "s";
  for (const double value : {0.0, -0.0, 1.0, 1e300, 5e-324, 0.1, -HUGE_VAL, 123456789012345680.0}) {
    REQUIRE(writer.scalar(site, value).ok());
  }
  REQUIRE(writer.flush().ok());
  std::string values;
  for (std::size_t at = 0; (at = to.bytes.find("\"value\":", at)) != std::string::npos; ++at) {
    values += to.bytes.substr(at + 8, to.bytes.find('}', at) - at - 8) + " ";
  }
  CHECK(values == "0 -0.0 1 1e+300 5e-324 0.1 \"-inf\" 1.2345678901234568e+17 ");
}

TEST_CASE("Same calls give the same bytes", "[trace]") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  Collected one;
  Collected two;
  for (Collected* to : {&one, &two}) {
    test::RandomRecords random(seed);
    TraceWriter writer = writer_on(*to);
    for (int i = 0; i < 300; ++i) REQUIRE(writer.write(random.record()).ok());
    REQUIRE(writer.finish().ok());
  }
  CHECK(one.bytes == two.bytes);
}

TEST_CASE("What a reader would refuse is not written", "[trace]") {
  using Change = std::function<void(Record&)>;
  const auto output = [](Record& record) -> Fingerprint& { return record.outputs.emplace_back(); };
  const std::vector<std::pair<Change, std::string_view>> cases{
      {[](Record& r) { r.site.operation.clear(); },
       "expected a record with a name, module, operation, kernel or tensor, got none"},
      {[](Record& r) { r.site.module = "a\xff"; },
       "expected UTF-8 in module, got another byte at 2"},
      {[](Record& r) { r.site.name.assign(65537, 'x'); },
       "expected at most 65536 bytes of text in name, got 65537"},
      {[](Record& r) { r.site.iteration = -1; }, "expected an integer from 0 as iteration, got -1"},
      {[](Record& r) { r.site.rank = 1; }, "expected a record of the header's rank, got rank 1"},
      {[](Record& r) { r.inputs.resize(1); }, "expected no inputs where inputs_recorded is false"},
      {[](Record& r) { r.outputs.resize(4097); },
       "expected at most 4096 fingerprints in a record, got 4097"},
      {[](Record& r) { r.kind = RecordKind::boundary; },
       "expected one output in a boundary, got 0"},
      {[&](Record& r) { r.kind = RecordKind::scalar, output(r); },
       "expected one output with a value in a scalar"},
      {[&](Record& r) { r.kind = RecordKind::event, output(r); },
       "expected neither inputs nor outputs in an event"},
      {[](Record& r) {
         r.attributes = {{"a", "1.0"}};
       },
       "expected canonical JSON in attributes \"a\", got 1.0"},
      {[](Record& r) {
         r.attributes = {{"a", "plain"}};
       },
       "expected canonical JSON in attributes \"a\", got plain"},
      {[](Record& r) {
         r.attributes = {{"b", "1"}, {"a", "1"}};
       },
       "expected attributes sorted by unique names, got \"a\" behind \"b\""},
      {[](Record& r) {
         r.attributes = {{"\x80", "1"}};
       },
       "expected UTF-8 in a key, got another byte at 1"},
      {[&](Record& r) {
         output(r).shape = {1}, r.outputs[0].has_shape = true, r.outputs[0].shape[0] = -1;
       },
       "expected extents from 0 in a shape, got -1"},
      {[&](Record& r) { output(r).shape.resize(65), r.outputs[0].has_shape = true; },
       "too many dimensions in one shape"},
      {[&](Record& r) { output(r).digests.resize(1); }, "expected 32 bytes of sha256, got 0"},
      {[&](Record& r) { output(r).value = "true"; },
       "expected a number, \"nan\", \"inf\" or \"-inf\" as value, got true"},
      {[&](Record& r) { output(r).value = "1e400"; },
       "expected a number, \"nan\", \"inf\" or \"-inf\" as value, got 1e400"},
      {[&](Record& r) { output(r).printed_digits = -1; },
       "expected 0 to 100 printed digits, got -1"},
      {[&](Record& r) {
         output(r).statistics = {{"a", 1}, {"a", 2}};
       },
       "expected one statistic \"a\", got two"},
  };
  Collected to;
  TraceWriter writer = writer_on(to);
  for (const auto& [change, message] : cases) {
    CAPTURE(message);
    Record record = call();
    change(record);
    const auto done = writer.write(record);
    REQUIRE_FALSE(done.ok());
    CHECK(done.error().code == Errc::usage);
    CHECK(done.error().where == "trace");
    CHECK(done.error().message == message);
  }
  CHECK_FALSE(writer.write(call(), {{"n", "'"}}).ok());
  REQUIRE(writer.write(call()).ok());  // the trace goes on
  REQUIRE(writer.finish().ok());
  CHECK(to.bytes.ends_with("{\"end\":true,\"records\":1}\n"));
  CHECK(writer.write(call()).error().message == "the trace is finished");
  CHECK(writer.finish().error().message == "the trace is finished");
  CHECK(writer.flush().error().message == "the trace is finished");

  TraceHeader header;
  header.run_id = "\xc0";
  CHECK_FALSE(TraceWriter::create(to.sink(), "trace", header).ok());
  header = {};
  header.rank = 2;
  header.world_size = 2;
  CHECK(TraceWriter::create(to.sink(), "trace", header).error().message ==
        "expected a rank below world_size 2, got 2");
}

TEST_CASE("Numbers of a numbered trace rise", "[trace]") {
  Collected to;
  TraceWriter writer = writer_on(to, {}, {true, 3});
  Record record = call();
  REQUIRE(writer.write(record).ok());
  CHECK(writer.write(record).error().message == "expected a sequence above 0, got 0");
  record.sequence = 5;
  REQUIRE(writer.write(record).ok());
  REQUIRE(writer.event(record.site).ok());
  REQUIRE(writer.finish().ok());
  CHECK(to.bytes.find("\"sequence\":6") != std::string::npos);
}

TEST_CASE("A trace can be followed while it is written", "[trace]") {
  Collected to;
  Record record = call();
  {
    TraceWriter writer = writer_on(to);
    CHECK(to.bytes == "{\"detdiff_trace\":1}\n");
    record.site.iteration = 1;
    REQUIRE(writer.write(record).ok());
    REQUIRE(writer.write(record).ok());
    CHECK(to.bytes == "{\"detdiff_trace\":1}\n");
    record.site.iteration = 2;
    REQUIRE(writer.write(record).ok());
    CHECK(std::count(to.bytes.begin(), to.bytes.end(), '\n') == 3);
    REQUIRE(writer.flush().ok());
    CHECK(std::count(to.bytes.begin(), to.bytes.end(), '\n') == 4);
    REQUIRE(writer.write(record).ok());
  }
  CHECK(std::count(to.bytes.begin(), to.bytes.end(), '\n') == 5);
  CHECK(to.bytes.find("\"end\"") == std::string::npos);  // the producer died
}

TEST_CASE("A sink that fails ends the trace", "[trace]") {
  int left = 1;
  auto writer = TraceWriter::create(
      [&left](std::string_view) -> Result<void> {
        if (left-- > 0) return {};
        return Error{Errc::io, "", "no space"};
      },
      "full", {});
  REQUIRE(writer.ok());
  REQUIRE(writer->write(call()).ok());  // not handed on yet
  for (int i = 0; i < 2; ++i) {
    CHECK(writer->flush().error().message == "no space");
    CHECK(writer->write(call()).error().where == "full");
    CHECK(writer->finish().error().code == Errc::io);
  }
  CHECK(left == -1);  // not asked again
  CHECK_FALSE(TraceWriter::create(
                  [](std::string_view) -> Result<void> {
                    return Error{Errc::io, "", "no space"};
                  },
                  "full", {})
                  .ok());
}

TEST_CASE("A trace overwrites nothing", "[trace]") {
  const test::TempDir folder;
  const std::string path = folder.write("trace.jsonl", "evidence");
  const auto again = TraceWriter::create(path, {});
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().code == Errc::usage);
  CHECK(again.error().where == path);
  CHECK(test::read_file(path) == "evidence");
  const auto lost = TraceWriter::create(folder.path() + "/none/trace.jsonl", {});
  REQUIRE_FALSE(lost.ok());
  CHECK(lost.error().code == Errc::io);
  TraceHeader bad;
  bad.run_id = "\xff";
  CHECK_FALSE(TraceWriter::create(folder.path() + "/bad.jsonl", bad).ok());
  CHECK(folder.names().size() == 1);  // a refused header leaves no file
}

}  // namespace
}  // namespace detdiff
