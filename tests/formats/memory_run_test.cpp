#include "formats/memory_run.hpp"

#include <utility>
#include <vector>

#include "support/catch.hpp"

using namespace detdiff;
using namespace detdiff::formats;

namespace {

// Two ranks: iterations 1 to 3, and nothing.
MemoryRun two_ranks() {
  RunInfo info;
  info.path = "runs/a";
  info.ranks.resize(2);
  info.ranks[0].file = "runs/a/0.json";
  info.ranks[0].bytes = 300;
  std::vector<Record> records(3);
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].site.iteration = static_cast<std::int64_t>(i) + 1;
    records[i].position.byte = i;
  }
  std::vector<std::vector<Record>> ranks;
  ranks.push_back(std::move(records));
  ranks.emplace_back();
  return {std::move(info), std::move(ranks)};
}

std::int64_t iteration(const Result<const Record*>& record) {
  REQUIRE(record);
  REQUIRE(*record != nullptr);
  return *(*record)->site.iteration;
}

}  // namespace

TEST_CASE("records in memory are read in order", "[memory_run]") {
  const MemoryRun run = two_ranks();
  auto stream = *run.open(0);
  CHECK(stream->bytes_read() == 0);
  for (std::int64_t i = 1; i <= 3; ++i) {
    auto record = stream->next();
    CHECK(iteration(record) == i);
    CHECK(stream->bytes_read() == static_cast<std::uint64_t>(i) * 100);
  }
  for (int i = 0; i < 2; ++i) {
    auto end = stream->next();
    REQUIRE(end);
    CHECK(*end == nullptr);
  }
  CHECK(stream->finished());
  CHECK_FALSE(stream->damage());
  CHECK(stream->notices().empty());
}

TEST_CASE("a stream in memory jumps to a position", "[memory_run]") {
  const MemoryRun run = two_ranks();
  auto stream = *run.open(0);
  CHECK(iteration(stream->read_at({7, 2})) == 3);
  CHECK(*stream->next() == nullptr);
  CHECK(iteration(stream->read_at({0, 1})) == 2);
  CHECK(iteration(stream->next()) == 3);
  const auto behind = stream->read_at({0, 3});
  REQUIRE_FALSE(behind);
  CHECK(behind.error().where == "runs/a/0.json");
}

TEST_CASE("streams in memory are independent and outlive their run", "[memory_run]") {
  std::unique_ptr<Stream> a, b;
  {
    const MemoryRun run = two_ranks();
    a = *run.open(0);
    b = *run.open(0);
  }
  CHECK(iteration(a->next()) == 1);
  CHECK(iteration(a->next()) == 2);
  CHECK(iteration(b->next()) == 1);
  const auto skipped = a->skip_equal(*b);
  REQUIRE(skipped);
  CHECK((*skipped).records == 0);
  CHECK(iteration(a->next()) == 3);
}

TEST_CASE("ranks in memory may be empty or absent", "[memory_run]") {
  const MemoryRun run = two_ranks();
  auto stream = *run.open(1);
  CHECK(stream->bytes_read() == 0);
  CHECK(*stream->next() == nullptr);
  CHECK_FALSE(stream->read_at({0, 0}));
  const auto third = run.open(2);
  REQUIRE_FALSE(third);
  CHECK(third.error().code == Errc::usage);
  CHECK(third.error().where == "runs/a");
}
