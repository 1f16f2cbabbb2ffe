// What TraceWriter writes, the reader reads back the same.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detdiff/trace_writer.hpp"
#include "formats/jsonl_run.hpp"
#include "formats/trace_feed.hpp"
#include "support/catch.hpp"
#include "support/random_record.hpp"
#include "support/temp_dir.hpp"

namespace detdiff::formats {
namespace {

using test::RandomRecords;
using test::same_record;

TraceWriter::Sink into(std::string& bytes) {
  return [&bytes](std::string_view block) {
    bytes += block;
    return Result<void>{};
  };
}

/// Whole lines of `bytes`, without their ends.
std::vector<std::string> lines_of(const std::string& bytes) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = bytes.find('\n', at);
    REQUIRE(end != std::string::npos);
    lines.push_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST_CASE("Every record is read back as it was written", "[trace]") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  RandomRecords random(seed);
  for (const bool numbered : {false, true}) {
    TraceHeader header;
    header.rank = 5;
    std::string bytes;
    auto writer = TraceWriter::create(into(bytes), "trace", header, {numbered, 3});
    REQUIRE(writer.ok());
    std::vector<Record> records;
    std::uint64_t sequence = 0;
    for (int i = 0; i < 3000; ++i) {
      Record record = random.record();
      record.site.rank = 5;
      if (numbered) record.sequence = sequence += random.below(3) + (i == 0 ? 0 : 1);
      const auto done = writer->write(record, random.attributes());
      CAPTURE(i, done ? "" : done.error().message);
      REQUIRE(done.ok());
      records.push_back(std::move(record));
    }
    REQUIRE(writer->finish().ok());
    const auto lines = lines_of(bytes);
    REQUIRE(lines.size() == records.size() + 2);
    test::Feed feed(false);
    REQUIRE(feed.line(lines[0]).ok());
    std::size_t different = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const auto done = feed.line(lines[i + 1]);
      CAPTURE(i, lines[i + 1], done ? "" : done.error().message);
      REQUIRE(done.ok());
      if (!same_record(feed.out().record, records[i])) {
        ++different;
        CHECK(same_record(feed.out().record, records[i]));
      }
    }
    CHECK(different == 0);
    REQUIRE(feed.line(lines.back()).ok());
    CHECK(feed.out().kind == ParsedLine::Kind::trailer);
    CHECK(feed.out().record.sequence == records.size());
  }
}

// Other values in the same fields, so that a stream can predict the line.
void change_values(RandomRecords& random, Record& record) {
  for (auto* list : {&record.inputs, &record.outputs}) {
    for (Fingerprint& print : *list) {
      for (Digest& digest : print.digests) {
        for (std::size_t i = 0; i < digest.size; ++i) {
          digest.bytes[i] = static_cast<std::uint8_t>(random.below(256));
        }
      }
      for (Statistic& statistic : print.statistics) {
        if (random.once_in(2)) statistic.value = random.number();
      }
      if (print.value && random.once_in(2)) print.value = random.value();
    }
  }
}

TEST_CASE("A stream that predicts lines reads what was written", "[trace]") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  RandomRecords random(seed);
  std::vector<Record> places;
  for (int i = 0; i < 40; ++i) {
    Record record = random.record();
    record.site.name += " " + std::to_string(i);  // no two sites are the same
    record.site.occurrence = 0;
    places.push_back(std::move(record));
  }
  std::string bytes;
  std::vector<Record> records;
  for (const bool restarted : {false, true}) {
    TraceHeader header;
    header.rank = 0;
    auto writer = TraceWriter::create(into(bytes), "trace", header, {true, 3});
    REQUIRE(writer.ok());
    std::uint64_t sequence = 0;
    for (std::int64_t iteration = restarted ? 20 : 0; iteration < 40; ++iteration) {
      for (Record& place : places) {
        if (random.once_in(100)) continue;  // a hole breaks the prediction
        change_values(random, place);
        place.site.rank = 0;
        place.site.iteration = iteration;
        place.sequence = ++sequence;
        REQUIRE(writer->write(place).ok());
        records.push_back(place);
      }
    }
    REQUIRE(writer->finish().ok());
  }
  const auto stream = make_jsonl_stream(memory_source("trace", bytes, {}), std::size_t{1} << 24,
                                        make_detdiff_trace_parser(), 0);
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto next = stream->next();
    CAPTURE(i, next ? "" : next.error().message);
    REQUIRE(next.ok());
    REQUIRE(*next != nullptr);
    REQUIRE(same_record(**next, records[i]));
  }
  auto end = stream->next();
  REQUIRE(end.ok());
  CHECK(*end == nullptr);
  CHECK(stream->finished());
}

TEST_CASE("A header is read back as it was written", "[trace]") {
  TraceHeader header;
  header.tool = "recorder \"x\"";
  header.tool_version = "1.2";
  header.run_id = "run\n7";
  header.rank = 2;
  header.world_size = 8;
  header.coordinates = {{"dp", 0}, {"tp", 1}};
  header.groups = {{"tp", {2, 3}}, {"dp", {}}};
  header.environment = {{"A", ""}, {"NCCL_ALGO", "Ring"}, {"é", "😀"}};
  header.digests = {DigestKind::sha256, DigestKind::xor64_f64};
  header.metrics_only = true;
  header.started = "2026-01-02T03:04:05Z";
  std::string bytes;
  REQUIRE(TraceWriter::create(into(bytes), "trace", header).ok());
  const std::size_t size = bytes.size() - 1;
  bytes.append(64, ' ');
  JsonLine line;
  REQUIRE(line.parse(std::string_view(bytes).substr(0, size)).ok());
  const auto read = parse_trace_header(line);
  REQUIRE(read.ok());
  CHECK(read->tool == header.tool);
  CHECK(read->tool_version == header.tool_version);
  CHECK(read->run_id == header.run_id);
  CHECK(read->rank == header.rank);
  CHECK(read->world_size == header.world_size);
  CHECK(read->coordinates == header.coordinates);
  CHECK(read->groups == header.groups);
  CHECK(read->environment == header.environment);
  CHECK(read->digests == header.digests);
  CHECK(read->metrics_only == header.metrics_only);
  CHECK(read->started == header.started);
}

TEST_CASE("A packed trace is read like a plain one", "[trace]") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  RandomRecords random(seed);
  const test::TempDir folder;
  std::vector<Record> records;
  for (int i = 0; i < 200; ++i) {
    records.push_back(random.record());
    records.back().site.name += " " + std::to_string(i);
    records.back().site.rank = 1;
    records.back().site.occurrence = 0;
  }
  TraceHeader header;
  header.rank = 1;
  std::vector<std::string> paths{folder.path("a/trace.jsonl"), folder.path("b/trace.jsonl.zst")};
  for (const std::string& path : paths) {
    auto writer = TraceWriter::create(path, header);
    REQUIRE(writer.ok());
    for (const Record& record : records) REQUIRE(writer->write(record).ok());
    REQUIRE(writer->finish().ok());
    auto run = open_run(path, {});
    REQUIRE(run.ok());
    CHECK((*run)->info().format == "detdiff-trace");
    auto stream = (*run)->open(0);
    REQUIRE(stream.ok());
    for (const Record& record : records) {
      auto next = (*stream)->next();
      REQUIRE(next.ok());
      REQUIRE(*next != nullptr);
      REQUIRE(same_record(**next, record));
    }
    REQUIRE(*(*stream)->next() == nullptr);
    CHECK((*stream)->finished());
    CHECK_FALSE((*stream)->damage());
  }
  CHECK(test::read_file(paths[1]).substr(0, 4) == "\x28\xb5\x2f\xfd");
  CHECK(test::read_file(paths[1]).size() < test::read_file(paths[0]).size());
}

}  // namespace
}  // namespace detdiff::formats
