#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detdiff/record.hpp"
#include "detdiff/result.hpp"
#include "formats/json_cursor.hpp"
#include "model/metric_names.hpp"
#include "model/run.hpp"

namespace detdiff::formats {

/// One file of golden metrics while it is turned into records; golden_metrics.hpp says the rules.
/// The other members are valid once parse() succeeded.
class GoldenDocument {
 public:
  /// `name` stands in errors and notices.
  GoldenDocument(std::string name, std::string text)
      : m_name(std::move(name)), m_text(std::move(text)) {}

  Result<void> parse();
  /// The sealed records in execution order, once.
  [[nodiscard]] std::vector<Record> take_records();
  [[nodiscard]] std::vector<Notice> notices() const;

 private:
  struct Metric {
    std::string name;
    MetricInfo info;
    bool exact = false;
    std::optional<std::int64_t> first_step, last_step;  ///< as the metric declares them
    [[nodiscard]] bool compared() const { return !info.environment && !info.other_axis; }
  };
  struct Sample {
    std::int64_t step;
    std::uint32_t metric;
    std::uint32_t offset;  ///< of the value in the document
    std::string value;
  };

  Result<void> parse_metric(std::uint32_t index);
  Result<void> parse_member(std::uint32_t index, Metric& metric,
                            std::optional<std::uint32_t>& values);
  Result<void> parse_values(const Metric& metric, std::uint32_t index);
  /// The value's text, or nothing where the step has none.
  Result<std::optional<std::string>> parse_value(const JsonLine::Node& node, const Metric& metric);

  /// The bare word that stood where `node` is now; empty if none did.
  [[nodiscard]] std::string_view bare_word(const JsonLine::Node& node) const;
  /// `what` was expected instead of `node`.
  [[nodiscard]] Error expected(const JsonLine::Node& node, const Metric& metric,
                               std::string_view what) const;

  std::string m_name;
  std::string m_text;
  std::vector<std::uint32_t> m_bare_words;  ///< offsets, ascending
  JsonLine m_json;
  std::vector<Metric> m_metrics;
  std::vector<Sample> m_samples;                           ///< in the order of the document
  std::string_view m_step;                                 ///< the step being read, for messages
  std::map<std::string, std::vector<std::string>> m_gaps;  ///< metric -> steps without value
};

/// "a, b, c and 4 more"
std::string shortened_list(const std::vector<std::string>& names);

}  // namespace detdiff::formats
