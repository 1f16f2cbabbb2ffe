#pragma once

#include <memory>
#include <vector>

#include "model/run.hpp"

namespace detdiff::formats {

/// A run whose records were read at once: for formats that are one small document (golden values).
class MemoryRun : public Run {
 public:
  /// `records[i]` are the sealed records of `info.ranks[i]` in execution order.
  MemoryRun(RunInfo info, std::vector<std::vector<Record>> records);

  [[nodiscard]] Result<std::unique_ptr<Stream>> open(std::size_t index) const override;

 private:
  std::vector<std::shared_ptr<const std::vector<Record>>> m_records;
};

}  // namespace detdiff::formats
