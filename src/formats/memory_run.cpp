#include "formats/memory_run.hpp"

#include <utility>

namespace detdiff::formats {
namespace {

using Records = std::shared_ptr<const std::vector<Record>>;

class MemoryStream final : public Stream {
 public:
  MemoryStream(Records records, std::string file, std::uint64_t bytes)
      : m_records(std::move(records)), m_file(std::move(file)), m_bytes(bytes) {}

  Result<const Record*> next() override {
    const Record* record = m_next < m_records->size() ? &(*m_records)[m_next++] : nullptr;
    return record;
  }

  /// Nothing: the records are in memory already, comparing them is as cheap.
  Result<Skipped> skip_equal(Stream&) override { return Skipped{}; }

  Result<const Record*> read_at(const Position& position) override {
    if (position.byte >= m_records->size()) {
      return Error{Errc::usage, m_file,
                   "no record " + std::to_string(position.byte) + " among " +
                       std::to_string(m_records->size())};
    }
    m_next = static_cast<std::size_t>(position.byte);
    return next();
  }

  [[nodiscard]] std::optional<Damage> damage() const override { return std::nullopt; }

  /// A document that was parsed whole cannot be cut.
  [[nodiscard]] bool finished() const override { return true; }

  [[nodiscard]] std::uint64_t bytes_read() const override {
    if (m_next == m_records->size()) return m_bytes;
    const double part = static_cast<double>(m_next) / static_cast<double>(m_records->size());
    return static_cast<std::uint64_t>(static_cast<double>(m_bytes) * part);
  }

 private:
  Records m_records;
  std::string m_file;
  std::uint64_t m_bytes;
  std::size_t m_next = 0;
};

}  // namespace

MemoryRun::MemoryRun(RunInfo info, std::vector<std::vector<Record>> records) {
  m_info = std::move(info);
  m_records.reserve(records.size());
  for (auto& one : records) {
    m_records.push_back(std::make_shared<const std::vector<Record>>(std::move(one)));
  }
}

Result<std::unique_ptr<Stream>> MemoryRun::open(std::size_t index) const {
  if (index >= m_records.size() || index >= m_info.ranks.size()) {
    return Error{Errc::usage, m_info.path, "no rank at index " + std::to_string(index)};
  }
  const RankInfo& rank = m_info.ranks[index];
  return std::unique_ptr<Stream>(
      std::make_unique<MemoryStream>(m_records[index], rank.file, rank.bytes));
}

}  // namespace detdiff::formats
