// Reads any bytes as a trace, twice: with a stream, which predicts lines, and line by line with a
// parser, which does not. Both must see the same records, and what was read must be written and
// read again without a change.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detdiff/trace_writer.hpp"
#include "formats/detdiff_trace.hpp"
#include "support/random_record.hpp"

namespace {

using namespace detdiff;
using formats::ParsedLine;
using test::same_record;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_detdiff_trace: %s\n", what);
  std::abort();
}

/// What a parser sees in all lines up to the first error.
struct Parsed {
  std::vector<Record> records;
  std::vector<bool> occurrence_given;
  bool error = false;
};

Parsed parse_lines(std::string_view bytes) {
  Parsed parsed;
  const auto parser = formats::make_detdiff_trace_parser();
  ParsedLine out;
  while (!bytes.empty() && !parsed.error) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string line(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    if (line.ends_with('\r')) line.pop_back();
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::size_t size = line.size();
    line.append(64, '{');
    parsed.error = !parser->parse(std::string_view(line).substr(0, size), out).ok();
    if (parsed.error || out.kind != ParsedLine::Kind::record) continue;
    parsed.records.push_back(out.record);
    parsed.occurrence_given.push_back(out.occurrence_given);
  }
  return parsed;
}

void write_and_read_again(const Record& record) {
  TraceHeader header;
  header.rank = record.site.rank;
  std::string bytes;
  const auto sink = [&bytes](std::string_view block) {
    bytes += block;
    return Result<void>{};
  };
  auto writer = TraceWriter::create(sink, "again", header, {record.sequence != 0, 3});
  require(writer.ok(), "header not written");
  const auto written = writer->write(record);
  require(written.ok(), written ? "" : written.error().message.c_str());
  require(writer->finish().ok(), "not finished");
  const Parsed again = parse_lines(bytes);
  require(!again.error && again.records.size() == 1, "not read again");
  require(same_record(again.records[0], record), "changed by writing and reading");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto as_file = [&bytes] {
    return formats::InputFile{memory_source("input", bytes, {}), "input", bytes.substr(0, 65536)};
  };
  if (formats::sniff_detdiff_trace(as_file()) != formats::Sniff::yes) {
    bytes.insert(0, "{\"detdiff_trace\":1,\"rank\":0}\n");
  }
  const Parsed parsed = parse_lines(bytes);
  for (const Record& record : parsed.records) write_and_read_again(record);

  std::vector<formats::InputFile> files;
  files.push_back(as_file());
  const auto run = formats::open_detdiff_trace("input", false, std::move(files), {});
  if (!run) {
    require(parsed.error && parsed.records.empty(), "opened by the parser alone");
    return 0;
  }
  const auto stream = (*run)->open(0);
  require(stream.ok(), "stream");
  std::size_t count = 0;
  while (true) {
    const auto next = (*stream)->next();
    if (!next) return 0;  // also what only a stream knows: order, occurrences, counts
    if (*next == nullptr) break;
    require(count < parsed.records.size(), "a record that the parser does not see");
    Record record = **next;
    if (!parsed.occurrence_given[count]) record.site.occurrence = 0;
    require(same_record(record, parsed.records[count]), "predicted otherwise than parsed");
    ++count;
  }
  require(count == parsed.records.size(), "records are missing");
  require(!parsed.error || (*stream)->damage().has_value(), "an error is missing");
  return 0;
}
