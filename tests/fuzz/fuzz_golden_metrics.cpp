#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/golden_metrics.hpp"
#include "model/metric_names.hpp"

// Any bytes give either records in the promised order or an error with a place.

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

int phase_order(const std::string& phase) {
  return phase == "forward" ? 0 : phase == "backward" ? 1 : phase == "optimizer" ? 2 : 3;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace detdiff;
  using namespace detdiff::formats;
  std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<InputFile> files(1);
  files[0].head = text.substr(0, std::size_t{64} << 10);
  files[0].source = memory_source("fuzz", std::move(text), ByteLimits{});
  static_cast<void>(sniff_golden_metrics(files[0]));

  const auto run = open_golden_metrics("fuzz", false, std::move(files), {});
  if (!run) {
    require(run.error().where.starts_with("fuzz") && !run.error().message.empty());
    return 0;
  }
  auto stream = (*run)->open(0);
  require(stream.ok());
  std::pair<std::int64_t, int> before{-1, 0};
  std::uint64_t count = 0;
  while (true) {
    const auto next = (*stream)->next();
    require(next.ok());
    if (*next == nullptr) break;
    const Record& record = **next;
    require(record.site.iteration.has_value() && *record.site.iteration >= 0);
    const std::pair here{*record.site.iteration, phase_order(record.site.phase)};
    require(before <= here);
    before = here;
    require(record.position.byte == count++ && record.position.line >= 1);
    require(record.outputs.size() == 1 && record.outputs[0].value &&
            !record.outputs[0].value->empty());
    const MetricInfo info = metric_info(record.site.name);
    require(!info.environment && record.site.phase == to_string(info.phase));
  }
  require((*stream)->finished() && (*stream)->bytes_read() == size);
  return 0;
}
