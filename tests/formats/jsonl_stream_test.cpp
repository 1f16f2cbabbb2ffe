#include <string>

#include "formats/jsonl_run.hpp"
#include "formats/megatron_trace.hpp"
#include "support/catch.hpp"

using namespace detdiff;
using namespace detdiff::formats;

namespace {

struct Line {
  std::int64_t iteration = 1;
  std::string name = "x";
  std::uint64_t sequence = 0;
  char digit = 'a';
  std::uint32_t occurrence = 0;
  std::uint32_t rank = 0;
};

std::string write(const Line& line) {
  return R"({"event":"tensor","iteration":)" + std::to_string(line.iteration) +
         R"(,"metadata":{},"microbatch":null,"name":")" + line.name + R"(","occurrence":)" +
         std::to_string(line.occurrence) + R"(,"phase":"forward","rank":)" + std::to_string(line.rank) +
         R"(,"schema_version":1,"sequence":)" + std::to_string(line.sequence) +
         R"(,"tensor":{"all_finite":true,"captured_numel":4,"device_type":"cpu","dtype":"float32",)"
         R"("exact_value_certificate":true,"layout":"strided","mode":"full","numel":4,)"
         R"("requires_grad":false,"sha256":")" + std::string(64, line.digit) +
         R"(","shape":[4],"stride":[1],"value_observed":true}})";
}

std::string log_of(std::int64_t iterations, int width, std::uint64_t sequence = 0) {
  std::string text;
  for (std::int64_t i = 1; i <= iterations; ++i) {
    for (int k = 0; k < width; ++k) {
      text += write({i, "layer" + std::to_string(k), sequence++,
                     "0123456789abcdef"[static_cast<std::size_t>((i * 7 + k) % 16)]}) + "\n";
    }
  }
  return text;
}

std::unique_ptr<Stream> stream_of(const std::string& text, std::size_t max_line = 1 << 20) {
  return make_jsonl_stream(memory_source("log", text, {}), max_line, make_megatron_trace_parser(), 0);
}

struct Read {
  std::vector<Record> records;
  std::optional<Error> error;
  std::optional<Damage> damage;
};

Read read_all(const std::string& text, std::size_t max_line = 1 << 20) {
  Read read;
  const auto stream = stream_of(text, max_line);
  while (true) {
    auto next = stream->next();
    if (!next) {
      read.error = next.error();
      return read;
    }
    if (*next == nullptr) break;
    read.records.push_back(**next);
  }
  read.damage = stream->damage();
  return read;
}

bool same(const Record& a, const Record& b) {
  EvidenceCounts counts;
  return a.site == b.site && a.sequence == b.sequence && a.keys.content == b.keys.content &&
         compare_records(a, b, counts).outcome == RecordMatch::Outcome::equal &&
         a.position.byte == b.position.byte;
}

}  // namespace

TEST_CASE("a predicted line gives the record that parsing gives", "[jsonl]") {
  const std::string text = log_of(12, 5);
  const Read all = read_all(text);
  REQUIRE(all.records.size() == 60);
  REQUIRE_FALSE(all.error);
  // Every line read on its own, where nothing can be predicted.
  const auto alone = stream_of(text);
  for (const Record& record : all.records) {
    auto single = alone->read_at(record.position);
    REQUIRE(single);
    REQUIRE(*single != nullptr);
    CHECK(same(record, **single));
  }
}

TEST_CASE("whitespace, key order and CRLF change nothing", "[jsonl]") {
  const Read plain = read_all(write({1, "x", 0, 'a'}) + "\n" + write({2, "x", 1, 'b'}) + "\n");
  std::string spaced = write({1, "x", 0, 'a'}) + "\r\n\r\n  \n" + write({2, "x", 1, 'b'});
  spaced.replace(spaced.find("\"iteration\":1,"), 14, "\"iteration\" : 1 , ");
  const Read other = read_all(spaced);
  REQUIRE_FALSE(other.error);
  REQUIRE(other.records.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(plain.records[i].keys.content == other.records[i].keys.content);
    CHECK(plain.records[i].outputs[0].digests[0].hex() == other.records[i].outputs[0].digests[0].hex());
  }
}

TEST_CASE("skipping equal lines counts what reading them counts", "[jsonl]") {
  const std::string text = log_of(40, 300);
  for (const std::size_t flip : {std::size_t{0}, text.size() / 3, text.size() / 2, text.size()}) {
    std::string other = text;
    std::uint64_t differing = 0;
    if (flip != 0 && flip != text.size()) {
      const auto at = other.find("\"sha256\":\"", flip) + 12;
      other[at] = other[at] == 'a' ? 'b' : 'a';
      differing = 1;
    }
    const auto a = stream_of(text);
    const auto b = stream_of(other);
    std::uint64_t records = 0;
    std::uint64_t skipped = 0;
    std::uint64_t unequal = 0;
    EvidenceCounts evidence;
    while (true) {
      auto x = a->next();
      auto y = b->next();
      REQUIRE(x);
      REQUIRE(y);
      if (*x == nullptr || *y == nullptr) {
        CHECK(*x == *y);
        break;
      }
      CHECK((*x)->position.byte == (*y)->position.byte);
      CHECK((*x)->position.line == records + 1);
      unequal += compare_records(**x, **y, evidence).outcome == RecordMatch::Outcome::equal ? 0 : 1;
      ++records;
      auto skip = a->skip_equal(*b);
      REQUIRE(skip);
      records += skip->records;
      skipped += skip->records;
      evidence += skip->evidence;
    }
    CHECK(records == 12000);
    CHECK(evidence.tensors == 12000);
    CHECK(evidence.by_kind[static_cast<std::size_t>(DigestKind::sha256)] == 12000);
    CHECK(unequal == differing);
    CHECK(skipped > 11000);
  }
}

TEST_CASE("equal damage on both sides is not skipped", "[jsonl]") {
  std::string text = log_of(6, 50);
  const auto at = text.find("\"sha256\":\"", text.size() / 2) + 20;
  text[at] = 'X';
  const auto a = stream_of(text);
  const auto b = stream_of(text);
  bool failed = false;
  for (int i = 0; i < 400 && !failed; ++i) {
    auto x = a->next();
    auto y = b->next();
    failed = !x || !y;
    if (failed) {
      CHECK((x ? y : x).error().where.find("log:") == 0);
      break;
    }
    if (*x == nullptr) break;
    REQUIRE(a->skip_equal(*b));
  }
  CHECK(failed);
}

TEST_CASE("a torn last line is damage, one in the middle an error", "[jsonl]") {
  const std::string text = log_of(3, 4);
  const std::string last = text.substr(0, text.size() - 1);
  const auto line_start = last.rfind('\n') + 1;
  CHECK_FALSE(read_all(last).damage);
  CHECK(read_all(last).records.size() == 12);
  for (std::size_t cut = line_start + 1; cut < last.size(); cut += 7) {
    const Read torn = read_all(text.substr(0, cut));
    CHECK(torn.records.size() == 11);
    REQUIRE(torn.damage);
    CHECK(torn.damage->position.line == 12);
    CHECK_FALSE(torn.error);
  }
  const Read nuls = read_all(text + std::string(20, '\0'));
  CHECK(nuls.damage);
  const Read middle = read_all(text.substr(0, 200) + "\n" + text.substr(201));
  REQUIRE(middle.error);
  CHECK(middle.error->where == "log:1");
  CHECK_FALSE(middle.error->hint.empty());
}

TEST_CASE("order, duplicates and ranks are checked by line", "[jsonl]") {
  const auto error_of = [](const std::string& text) {
    const Read read = read_all(text);
    REQUIRE(read.error);
    return read.error->where + ": " + read.error->message;
  };
  CHECK(error_of(write({1, "x", 5}) + "\n" + write({1, "y", 5}) + "\n") ==
        "log:2: expected a sequence above 5, got 5");
  CHECK(error_of(write({1, "x", 5}) + "\n" + write({1, "x", 6}) + "\n").find("log:2: this record is in the file twice") == 0);
  CHECK(error_of(write({1, "x", 5, 'a', 0, 1}) + "\n").find("log:1: expected rank 0, got rank 1") == 0);
  // The same place again in a later iteration, and a second occurrence, are no duplicates.
  CHECK(read_all(write({1, "x", 1}) + "\n" + write({1, "x", 2, 'a', 1}) + "\n" + write({2, "x", 3}) + "\n")
            .records.size() == 3);
  std::string late = log_of(5, 3);
  late += write({5, "layer1", 99}) + "\n";
  CHECK(error_of(late).find("log:16: this record is in the file twice") == 0);
}

TEST_CASE("a line over the limit is an error with its place", "[jsonl]") {
  const Read read = read_all(write({1, "x", 0}) + "\n" + std::string(300000, ' ') + "\n", 4096);
  REQUIRE(read.error);
  CHECK(read.error->code == Errc::limit);
  CHECK(read.error->where == "log:2");
}

TEST_CASE("names that change with every iteration do not exhaust the memory", "[jsonl]") {
  std::string text;
  std::uint64_t sequence = 0;
  for (int i = 1; i <= 400; ++i) {
    for (int k = 0; k < 40; ++k) {
      text += write({i, "step" + std::to_string(i) + ".layer" + std::to_string(k), sequence++}) + "\n";
    }
  }
  CHECK(read_all(text).records.size() == 16000);
}
