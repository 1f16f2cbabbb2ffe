#include "formats/golden_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <utility>

#include "formats/golden_metrics.hpp"

namespace detdiff::formats {
namespace {

using Kind = JsonToken::Kind;

// JsonLine wants this many bytes behind the text.
constexpr std::size_t k_padding = 64;
constexpr std::size_t k_names_in_notice = 8;
// Every record holds its metric's name: bounds what a hostile file can make of 64 MiB.
constexpr std::size_t k_longest_name = 256;
constexpr std::array<std::string_view, 3> k_bare_words{"NaN", "Infinity", "-Infinity"};

std::string excerpt(std::string_view text) {
  constexpr std::size_t most = 40;
  return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + "...";
}

// A decimal integer of 0..2^63-1 without leading zeros.
std::optional<std::int64_t> parse_step(std::string_view text) {
  if (text.empty() || text.front() == '-' || (text.size() > 1 && text.front() == '0')) return {};
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return step;
}

// The text of a value that is no finite number, as records spell it; empty if it is none.
std::string_view non_finite(std::string_view text) {
  if (text == "NaN") return "nan";
  if (text == "inf" || text == "Infinity") return "inf";
  if (text == "-inf" || text == "-Infinity") return "-inf";
  return {};
}

/// Makes the bare words NaN, Infinity and -Infinity, which are no JSON, strings of the same length
/// and returns where they stand. Only words behind a colon are touched.
std::vector<std::uint32_t> quote_bare_words(std::string& text) {
  std::vector<std::uint32_t> offsets;
  if (text.find("NaN") == std::string::npos && text.find("Infinity") == std::string::npos) {
    return offsets;
  }
  bool in_string = false;
  char before = '\0';  // the last byte outside of strings that is no space
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (before == ':' && (c == 'N' || c == 'I' || c == '-')) {
      for (const std::string_view word : k_bare_words) {
        if (text.compare(i, word.size(), word) != 0) continue;
        offsets.push_back(static_cast<std::uint32_t>(i));
        text[i] = '"';
        i += word.size() - 1;
        text[i] = '"';
        break;
      }
    }
    in_string = text[i] == '"' && c == '"';
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') before = c;
  }
  return offsets;
}

}  // namespace

std::string shortened_list(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), k_names_in_notice);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::string_view GoldenDocument::bare_word(const JsonLine::Node& node) const {
  const auto found =
      std::lower_bound(m_bare_words.begin(), m_bare_words.end(), m_json.offset(node));
  if (found == m_bare_words.end() || *found != m_json.offset(node)) return {};
  const auto same_size = [&node](std::string_view w) { return w.size() == node.token.raw.size(); };
  return *std::find_if(k_bare_words.begin(), k_bare_words.end(), same_size);
}

Error GoldenDocument::expected(const JsonLine::Node& node, const Metric& metric,
                               std::string_view what) const {
  const auto before = m_text.begin() + std::ptrdiff_t{m_json.offset(node)};
  std::string found = node.token.kind == Kind::object  ? "an object"
                      : node.token.kind == Kind::array ? "a list"
                                                       : excerpt(node.token.raw);
  if (const std::string_view word = bare_word(node); !word.empty()) found = word;
  return {Errc::damaged, fmt::format("{}:{}", m_name, 1 + std::count(m_text.begin(), before, '\n')),
          fmt::format("metric \"{}\"{}: expected {}, found {}", excerpt(metric.name),
                      m_step.empty() ? "" : fmt::format(", step \"{}\"", excerpt(m_step)), what,
                      found)};
}

Result<void> GoldenDocument::parse() {
  m_bare_words = quote_bare_words(m_text);
  const std::size_t size = m_text.size();
  m_text.append(k_padding, '\0');
  if (auto parsed = m_json.parse({m_text.data(), size}); !parsed) {
    Error error = std::move(parsed).error();
    error.where = m_name;
    // JsonLine speaks of lines; here its line is the file.
    for (const std::string_view word : {"the end of the line", "in one line"}) {
      const std::size_t at = error.message.find(word);
      if (at != std::string::npos) error.message.replace(at + word.size() - 4, 4, "file");
    }
    return error;
  }
  const auto& nodes = m_json.nodes();
  for (std::uint32_t i = 1; i < nodes[0].next; i = nodes[i].next) {
    if (auto metric = parse_metric(i); !metric) return metric;
  }
  return {};
}

Result<void> GoldenDocument::parse_metric(std::uint32_t index) {
  const auto& nodes = m_json.nodes();
  const JsonLine::Node& root = nodes[index];
  Metric metric;
  metric.name = root.key;
  metric.info = metric_info(metric.name);
  m_step = {};
  if (metric.name.size() > k_longest_name) {
    Error error =
        expected(root, metric, "a name of at most " + std::to_string(k_longest_name) + " bytes");
    error.code = Errc::limit;
    return error;
  }
  if (root.token.kind != Kind::object) return expected(root, metric, "an object");
  std::optional<std::uint32_t> values;
  for (std::uint32_t i = index + 1; i < root.next; i = nodes[i].next) {
    if (auto member = parse_member(i, metric, values); !member) return member;
  }
  if (!values) return expected(root, metric, "\"values\" in it");
  m_metrics.push_back(metric);
  return parse_values(m_metrics.back(), *values);
}

Result<void> GoldenDocument::parse_member(std::uint32_t index, Metric& metric,
                                          std::optional<std::uint32_t>& values) {
  const JsonLine::Node& node = m_json.nodes()[index];
  if (node.key == "start_step" || node.key == "end_step") {
    const auto step = parse_step(node.token.raw);
    if (!step) return expected(node, metric, fmt::format("a step as \"{}\"", node.key));
    (node.key == "start_step" ? metric.first_step : metric.last_step) = step;
  } else if (node.key == "value_precision") {
    metric.exact = node.token.raw == "\"full\"";
    if (!metric.exact) {
      Error error = expected(node, metric, "\"full\" as \"value_precision\"");
      error.code = Errc::unsupported;
      return error;
    }
  } else if (node.key == "values") {
    if (node.token.kind == Kind::array) {
      Error error = expected(node, metric, "values by step");
      error.code = Errc::unsupported;
      error.message += ", the older form, which does not say the steps";
      return error;
    }
    if (node.token.kind != Kind::object) return expected(node, metric, "an object as \"values\"");
    values = index;
  }
  return {};
}

Result<void> GoldenDocument::parse_values(const Metric& metric, std::uint32_t index) {
  const auto& nodes = m_json.nodes();
  const auto metric_index = static_cast<std::uint32_t>(m_metrics.size() - 1);
  std::vector<std::int64_t> empty_steps;
  std::optional<std::int64_t> first, last;
  for (std::uint32_t i = index + 1; i < nodes[index].next; i = nodes[i].next) {
    const JsonLine::Node& node = nodes[i];
    m_step = node.key;
    const auto step = parse_step(node.key);
    if (!step) return expected(node, metric, "a step as the value's key, 0 to 2^63-1");
    if ((metric.first_step && *step < *metric.first_step) ||
        (metric.last_step && *step > *metric.last_step)) {
      return expected(node, metric, "a step from start_step to end_step");
    }
    auto value = parse_value(node, metric);
    if (!value) return std::move(value).error();
    if (!*value) {
      empty_steps.push_back(*step);
      continue;
    }
    first = std::min(first.value_or(*step), *step);
    last = std::max(last.value_or(*step), *step);
    if (metric.compared()) {
      m_samples.push_back({*step, metric_index, m_json.offset(node), **std::move(value)});
    }
  }
  std::sort(empty_steps.begin(), empty_steps.end());
  for (const std::int64_t step : empty_steps) {
    if (metric.compared() && first && *first < step && step < *last) {
      m_gaps[metric.name].push_back(std::to_string(step));
    }
  }
  return {};
}

Result<std::optional<std::string>> GoldenDocument::parse_value(const JsonLine::Node& node,
                                                               const Metric& metric) {
  using Value = std::optional<std::string>;
  if (node.token.kind == Kind::integer || node.token.kind == Kind::number) {
    return Value(canonical_number(node.token.raw));
  }
  if (node.token.kind != Kind::string) return expected(node, metric, "a number or \"nan\"");
  const std::string_view word = bare_word(node);
  const std::string_view text = word.empty() ? m_json.text(node) : word;
  if (text == "nan") return metric.exact ? Value("nan") : Value();
  const std::string_view value = non_finite(text);
  if (value.empty()) return expected(node, metric, "a number or \"nan\"");
  return Value(value);
}

std::vector<Record> GoldenDocument::take_records() {
  // Lines first: the samples are still in the order of the document.
  std::vector<std::uint64_t> lines;
  lines.reserve(m_samples.size());
  std::uint64_t line = 1;
  auto at = m_text.begin();
  for (const Sample& sample : m_samples) {
    const auto end = m_text.begin() + std::ptrdiff_t{sample.offset};
    line += static_cast<std::uint64_t>(std::count(at, end, '\n'));
    at = end;
    lines.push_back(line);
  }
  std::vector<std::uint32_t> order(m_samples.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [this](std::uint32_t i) {
    const Sample& sample = m_samples[i];
    return std::tuple(sample.step, m_metrics[sample.metric].info.phase, sample.metric);
  };
  std::sort(order.begin(), order.end(),
            [&key](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });

  std::vector<Record> records(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    Sample& sample = m_samples[order[i]];
    const Metric& metric = m_metrics[sample.metric];
    Record& record = records[i];
    record.kind = RecordKind::scalar;
    record.site.iteration = sample.step;
    record.site.phase = to_string(metric.info.phase);
    record.site.tensor = metric.name;
    record.site.name = metric.name;
    record.outputs.resize(1);
    record.outputs[0].value = std::move(sample.value);
    record.outputs[0].printed_digits = metric.exact ? 0 : golden_printed_digits;
    record.position = {lines[order[i]], i};
    seal(record);
  }
  return records;
}

std::vector<Notice> GoldenDocument::notices() const {
  std::vector<std::string> environment, copies;
  for (const Metric& metric : m_metrics) {
    if (metric.info.environment) {
      environment.push_back(metric.name);
    } else if (metric.info.other_axis) {
      copies.push_back(metric.name);
    }
  }
  std::vector<Notice> notices;
  if (!environment.empty()) {
    notices.push_back({"environment_metrics_left_out",
                       fmt::format("{}: not compared, because they measure the machine and not the "
                                   "numbers: {}",
                                   m_name, shortened_list(environment))});
  }
  if (!copies.empty()) {
    notices.push_back({"other_axis_left_out",
                       fmt::format("{}: not compared, because they repeat other metrics by samples "
                                   "instead of steps: {}",
                                   m_name, shortened_list(copies))});
  }
  for (const auto& [metric, steps] : m_gaps) {
    notices.push_back(
        {"steps_without_value",
         fmt::format("{}: \"{}\" has no value at {} between others: nothing was "
                     "logged there, as where an update is skipped",
                     m_name, metric,
                     (steps.size() == 1 ? "step " : "steps ") + shortened_list(steps))});
  }
  return notices;
}

}  // namespace detdiff::formats
