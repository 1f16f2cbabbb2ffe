#include <cstdlib>
#include <map>
#include <string>
#include <tuple>

#include "compare/comparison.hpp"
#include "formats/jsonl_run.hpp"
#include "formats/megatron_trace.hpp"
#include "token_mutator.hpp"

// Two logs, separated by a line "=": the comparison mirrors when they are swapped, a log is never
// divergent from its copy, and "same" is never said of records that a plain map finds unequal.

namespace {

using namespace detdiff;
using namespace detdiff::formats;

void require(bool holds) {
  if (!holds) std::abort();
}

std::unique_ptr<Run> run_of(const std::string& text) {
  RunInfo info;
  info.ranks.push_back({0, "fuzz", text.size(), 0, 0, {}});
  return std::make_unique<JsonlRun>(std::move(info),
                                    std::vector<std::shared_ptr<ByteSource>>{
                                        memory_source("fuzz", text, ByteLimits{})},
                                    1 << 16, make_megatron_trace_parser);
}

using Key = std::tuple<std::int64_t, std::uint64_t, std::uint32_t>;

// The records by iteration, identity and occurrence; a later one of the same key replaces it.
std::map<Key, Record> records_of(const Run& run) {
  std::map<Key, Record> records;
  auto stream = run.open(0);
  require(stream.ok());
  while (true) {
    auto next = (*stream)->next();
    if (!next || *next == nullptr) return records;
    const Record& record = **next;
    records[{record.site.iteration.value_or(-1), record.keys.identity, record.site.occurrence}] = record;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace detdiff::compare;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find("\n=\n");
  if (cut == std::string::npos) return 0;
  const auto a = run_of(text.substr(0, cut + 1));
  const auto b = run_of(text.substr(cut + 3));
  Options options;
  options.jobs = 1;
  auto there = compare_runs(*a, *b, options);
  auto back = compare_runs(*b, *a, options);
  require(there.ok() == back.ok());
  if (!there) return 0;
  require(there->verdict == back->verdict && there->records_compared == back->records_compared &&
          there->weakest == back->weakest && there->lead.has_value() == back->lead.has_value());
  auto self = compare_runs(*a, *run_of(text.substr(0, cut + 1)), options);
  require(self.ok() && self->verdict != Verdict::divergent);

  if (there->verdict != Verdict::same || there->offset != 0) return 0;
  if (there->ranks[0].a.segments.size() > 1 || there->ranks[0].b.segments.size() > 1) return 0;
  const auto in_a = records_of(*a);
  for (const auto& [key, record] : records_of(*b)) {
    const auto found = in_a.find(key);
    if (found == in_a.end()) continue;
    EvidenceCounts counts;
    require(compare_records(found->second, record, counts).outcome == RecordMatch::Outcome::equal);
  }
  return 0;
}
