#include "report/log_view.hpp"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "model/interrupt.hpp"
#include "report/escape.hpp"
#include "report/page.hpp"
#include "report/record_json.hpp"
#include "report/table.hpp"
#include "report/utf8.hpp"

namespace detdiff::report {
namespace {

constexpr std::size_t k_max_modules = 100'000;

// Counts by name in the order in which the names first came.
class Tally {
 public:
  explicit Tally(std::size_t limit) : m_limit(limit) {}
  void add(const std::string& name) {
    const auto known = m_index.find(name);
    if (known != m_index.end()) {
      ++m_counts[known->second].second;
    } else if (m_counts.size() < m_limit) {
      m_index.emplace(name, m_counts.size());
      m_counts.emplace_back(name, 1);
    } else {
      ++m_left_out;
    }
  }
  [[nodiscard]] Json json() const {
    Json list = Json::array();
    for (const auto& [name, count] : m_counts) {
      list.push_back(Json{{"name", text_or_null(name)}, {"records", count}});
    }
    return list;
  }
  [[nodiscard]] std::uint64_t left_out() const { return m_left_out; }

 private:
  std::size_t m_limit;
  std::unordered_map<std::string, std::size_t> m_index;
  std::vector<std::pair<std::string, std::uint64_t>> m_counts;
  std::uint64_t m_left_out = 0;
};

struct Scan {
  Tally phases{k_max_modules};
  Tally modules{k_max_modules};
  std::map<std::string_view, std::uint64_t> kinds;
  EvidenceCounts evidence;
};

Result<Json> scan_rank(const Run& run, std::size_t index, Scan& scan) {
  auto opened = run.open(index);
  if (!opened) return std::move(opened).error();
  Stream& stream = **opened;
  std::uint64_t records = 0;
  std::uint64_t restarts = 0;
  std::optional<compare::IterationSpan> span;
  std::optional<std::int64_t> last;
  while (true) {
    if (interrupt_requested().load(std::memory_order_relaxed)) return interrupted_error("");
    auto next = stream.next();
    if (!next) return std::move(next).error();
    if (*next == nullptr) break;
    const Record& record = **next;
    ++records;
    ++scan.kinds[to_string(record.kind)];
    scan.phases.add(record.site.phase);
    scan.modules.add(record.site.module);
    (void)compare_records(record, record, scan.evidence);
    const auto& iteration = record.site.iteration;
    if (!iteration || last == iteration) continue;
    if (last && *iteration < *last) ++restarts;
    last = iteration;
    if (!span) span = compare::IterationSpan{*iteration, *iteration, 0};
    span->first = std::min(span->first, *iteration);
    span->last = std::max(span->last, *iteration);
    ++span->count;
  }
  const RankInfo& info = run.info().ranks[index];
  Json out;
  out["rank"] = info.rank ? Json(*info.rank) : Json(nullptr);
  out["file"] = to_utf8(info.file);
  out["bytes"] = info.bytes;
  out["records"] = records;
  out["iterations"] = span_json(span);
  out["restarts"] = restarts;
  out["finished"] = stream.finished();
  const auto damage = stream.damage();
  out["damage"] = damage ? Json{{"line", damage->position.line}, {"text", to_utf8(damage->text)}}
                         : Json(nullptr);
  out["coordinates"] = info.coordinates;
  return out;
}

// A number or text as it is shown; empty for anything else.
std::string shown(const Json& value) {
  return value.is_number_integer() ? value.dump() : escape(text_of(value));
}

std::string or_dash(const Json& object, std::string_view key) {
  const std::string text = shown(field(object, key));
  return text.empty() ? "-" : text;
}

std::string iterations_text(const Json& rank) {
  const Json& span = field(rank, "iterations");
  const auto first = integer_of(span, "first");
  const auto last = integer_of(span, "last");
  if (!first || !last) return "-";
  return first == last ? fmt::format("{}", *first) : fmt::format("{}-{}", *first, *last);
}

void add_ranks(const Json& summary, Page& page) {
  Table table({{"rank", Table::Align::right}, {"iterations"}, {"records", Table::Align::right},
               {"bytes", Table::Align::right}, {"file", Table::Align::left, true}, {"remark"}});
  const Json& ranks = list_of(summary, "ranks");
  const std::size_t limit = page.options().max_rows == 0 ? ranks.size() : page.options().max_rows;
  for (std::size_t i = 0; i < ranks.size() && i < limit; ++i) {
    const Json& rank = element(ranks, i);
    std::string remark;
    if (const Json& damage = field(rank, "damage"); damage.is_object()) {
      remark = escape(text_of(damage, "text"));
    } else if (const std::uint64_t restarts = count_in(rank, "restarts"); restarts != 0) {
      remark = count_of(restarts, "restart");
    }
    table.add({or_dash(rank, "rank"), iterations_text(rank), number(count_in(rank, "records")),
               number(count_in(rank, "bytes")), or_dash(rank, "file"), remark});
  }
  page.gap();
  page.rows(table.lines(page.table_width()));
  if (ranks.size() > limit) {
    page.item("", fmt::format("{} more (--max-rows 0 shows all)", count_of(ranks.size() - limit, "rank")));
  }
}

void add_counts(const Json& summary, std::string_view key, std::string_view label, Page& page) {
  const Json& list = list_of(summary, key);
  const std::size_t limit = page.options().max_rows == 0 ? list.size() : page.options().max_rows;
  Table table({{std::string(label), Table::Align::left, true}, {"records", Table::Align::right}});
  for (std::size_t i = 0; i < list.size() && i < limit; ++i) {
    const std::string name = text_of(element(list, i), "name");
    table.add({name.empty() ? "(none)" : escape(name), number(count_in(element(list, i), "records"))});
  }
  if (table.row_count() == 0) return;
  page.gap();
  page.rows(table.lines(page.table_width()));
  if (list.size() > limit) {
    page.item("", fmt::format("{} more of {} (--max-rows 0 shows all)", number(list.size() - limit),
                              number(list.size())));
  }
}

std::string pairs_text(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", escape(key),
                        value.is_number_unsigned() ? number(value.get<std::uint64_t>())
                                                   : escape(text_of(value)));
  }
  return text;
}

std::string tensor_text(const Json& tensor) {
  std::string text = escape(text_of(tensor, "dtype"));
  if (const Json& shape = field(tensor, "shape"); shape.is_array()) {
    std::string extents;
    for (const Json& extent : shape) extents += (extents.empty() ? "" : ", ") + shown(extent);
    text += fmt::format("[{}]", extents);
  }
  for (const Json& digest : list_of(tensor, "digests")) {
    text += fmt::format("  {} {}{}", text_of(digest, "kind"), text_of(digest, "hex"),
                        flag_of(digest, "sampled") ? " (samples)" : "");
  }
  for (const Json& statistic : list_of(tensor, "statistics")) {
    text += fmt::format("  {} {}", escape(text_of(statistic, "name")), text_of(statistic, "value"));
  }
  if (const std::string value = text_of(tensor, "value"); !value.empty()) text += "  " + escape(value);
  for (const Json& flag : list_of(tensor, "flags")) text += "  " + text_of(flag);
  return text;
}

Site site_of(const Json& json) {
  Site site;
  if (const auto rank = integer_of(json, "rank")) site.rank = static_cast<std::uint32_t>(*rank);
  site.iteration = integer_of(json, "iteration");
  site.microbatch = integer_of(json, "microbatch");
  site.phase = text_of(json, "phase");
  site.module = text_of(json, "module");
  site.operation = text_of(json, "operation");
  site.kernel = text_of(json, "kernel");
  site.tensor = text_of(json, "tensor");
  site.occurrence = static_cast<std::uint32_t>(count_in(json, "occurrence"));
  site.name = text_of(json, "name");
  return site;
}

}  // namespace

Result<Json> summarise_log(const Run& run) {
  Scan scan;
  const RunInfo& info = run.info();
  Json out;
  out["path"] = to_utf8(info.path);
  out["format"] = to_utf8(info.format);
  out["title"] = to_utf8(info.title);
  out["run_id"] = text_or_null(info.run_id);
  out["world_size"] = info.world_size ? Json(*info.world_size) : Json(nullptr);
  out["environment"] = Json::object();
  for (const auto& [key, value] : info.environment) out["environment"][to_utf8(key)] = to_utf8(value);
  out["ranks"] = Json::array();
  for (std::size_t i = 0; i < info.ranks.size(); ++i) {
    auto rank = scan_rank(run, i, scan);
    if (!rank) return rank;
    out["ranks"].push_back(std::move(*rank));
  }
  out["records"] = Json::object();
  for (const auto& [kind, count] : scan.kinds) out["records"][std::string(kind)] = count;
  out["phases"] = scan.phases.json();
  out["modules"] = scan.modules.json();
  out["modules_left_out"] = scan.modules.left_out();
  out["evidence"] = evidence_json(scan.evidence, scan.evidence.weakest());
  out["notices"] = Json::array();
  for (const Notice& notice : info.notices) {
    out["notices"].push_back(Json{{"code", notice.code}, {"text", to_utf8(notice.text)}});
  }
  return out;
}

std::string log_text(const Json& summary, const TextOptions& options) {
  Page page(options);
  page.line(fmt::format("{}: {}, {}", escape(text_of(summary, "path")), text_of(summary, "title"),
                        count_of(list_of(summary, "ranks").size(), "rank")));
  page.gap();
  page.item("records", pairs_text(field(summary, "records")));
  const Json& evidence = field(summary, "evidence");
  page.item("evidence", fmt::format("weakest {}; {}", text_of(evidence, "weakest"),
                                    pairs_text(field(evidence, "kinds"))));
  if (const std::string id = text_of(summary, "run_id"); !id.empty()) page.item("run id", escape(id));
  if (const std::string world = shown(field(summary, "world_size")); !world.empty()) {
    page.item("world size", world);
  }
  const Json& environment = field(summary, "environment");
  if (environment.is_object() && !environment.empty()) {
    page.item("environment", pairs_text(environment));
  }
  add_ranks(summary, page);
  add_counts(summary, "phases", "phase", page);
  add_counts(summary, "modules", "module", page);
  page.gap();
  for (const Json& notice : list_of(summary, "notices")) {
    page.item("notice", escape(text_of(notice, "text")));
  }
  return page.text();
}

Result<Json> find_records(const Run& run, const SitePattern& pattern, std::size_t max_rows) {
  Json out;
  out["pattern"] = to_string(pattern.site);
  out["matching"] = 0;
  out["records"] = Json::array();
  std::uint64_t matching = 0;
  for (std::size_t i = 0; i < run.info().ranks.size(); ++i) {
    const RankInfo& info = run.info().ranks[i];
    if (pattern.site.rank && info.rank && pattern.site.rank != info.rank) continue;
    auto stream = run.open(i);
    if (!stream) return std::move(stream).error();
    while (true) {
      if (interrupt_requested().load(std::memory_order_relaxed)) return interrupted_error("");
      auto next = (*stream)->next();
      if (!next) return std::move(next).error();
      if (*next == nullptr) break;
      if (!matches(pattern, (*next)->site)) continue;
      if (max_rows != 0 && ++matching > max_rows) continue;
      if (max_rows == 0) ++matching;
      out["records"].push_back(record_json(**next, {info.file, (*next)->site.iteration}));
    }
  }
  out["matching"] = matching;
  return out;
}

std::string records_text(const Json& found, const TextOptions& options) {
  Page page(options);
  for (const Json& record : list_of(found, "records")) {
    page.line(fmt::format("{} {}", text_of(record, "kind"), to_string(site_of(field(record, "site")))));
    page.item("at", fmt::format("{}:{}", escape(text_of(record, "file")),
                                shown(field(record, field(record, "line").is_null() ? "byte" : "line"))));
    const Json& inputs = field(record, "inputs");
    if (inputs.is_array()) {
      for (const Json& tensor : inputs) page.item("input", tensor_text(tensor));
    }
    for (const Json& tensor : list_of(record, "outputs")) page.item("output", tensor_text(tensor));
    std::string attributes;
    for (const Json& attribute : list_of(record, "attributes")) {
      attributes += fmt::format("{}{} {}", attributes.empty() ? "" : ", ",
                                escape(text_of(attribute, "name")), escape(text_of(attribute, "value")));
    }
    if (!attributes.empty()) page.item("attributes", attributes);
    page.gap();
  }
  const std::uint64_t matching = count_in(found, "matching");
  const std::size_t shown = list_of(found, "records").size();
  page.line(matching > shown ? fmt::format("{} match, the first {} are shown (--max-rows 0 shows all)",
                                           count_of(matching, "record"), number(shown))
                             : fmt::format("{} match{}", count_of(matching, "record"),
                                           matching == 1 ? "es" : ""));
  return page.text();
}

}  // namespace detdiff::report
