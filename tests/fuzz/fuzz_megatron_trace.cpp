#include <cstdlib>
#include <string>

#include "formats/jsonl_run.hpp"
#include "formats/megatron_trace.hpp"
#include "token_mutator.hpp"

// Whatever the bytes: every record that is read in a row, where lines are predicted from lines before,
// is the record that the line gives on its own. Errors have a place.

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace detdiff;
  using namespace detdiff::formats;
  const auto source = memory_source("fuzz", std::string(reinterpret_cast<const char*>(data), size), ByteLimits{});
  const auto stream = make_jsonl_stream(source, 1 << 16, make_megatron_trace_parser(), std::nullopt);
  const auto alone = make_jsonl_stream(source, 1 << 16, make_megatron_trace_parser(), std::nullopt);
  while (true) {
    auto next = stream->next();
    if (!next) {
      require(!next.error().where.empty() && !next.error().message.empty());
      return 0;
    }
    if (*next == nullptr) return 0;
    const Record& record = **next;
    auto single = alone->read_at(record.position);
    require(single.ok() && *single != nullptr);
    EvidenceCounts counts;
    require((*single)->site == record.site && (*single)->sequence == record.sequence &&
            (*single)->keys.content == record.keys.content &&
            compare_records(**single, record, counts).outcome == RecordMatch::Outcome::equal);
  }
}
