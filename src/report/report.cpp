#include "report/report.hpp"

#include "report/document.hpp"
#include "report/page.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace detdiff::report {
namespace {

constexpr std::size_t k_assumed_height = 24;

std::string colored_verdict(const Page& page, const Json& document) {
  const std::string line = verdict_line(document);
  const std::size_t end = line.find(' ');
  const std::string_view style = is(document, "verdict", "same")        ? "1;32"
                                 : is(document, "verdict", "divergent") ? "1;31"
                                                                        : "1;33";
  return page.styled(line.substr(0, end), style) +
         (end == std::string::npos ? std::string() : line.substr(end));
}

std::string class_text(const Json& document) {
  const std::string cls = text_of(document, "class");
  if (cls == "control_flow") return "control flow";
  if (cls != "restore") return cls;
  const std::string what = text_of(document, "restore");
  return what == "forward_state" ? "restore of forward state"
         : what.empty()          ? "restore, state unknown"
                                 : "restore of " + what;
}

void add_meaning(Page& page, const Json& document) {
  const std::string cls = class_text(document);
  const std::string pattern = text_of(document, "metric_pattern");
  const std::string meaning = text_of(document, "meaning");
  const std::string reason = text_of(field(document, "first_record"), "reason");
  if (meaning.empty()) return;
  page.gap();
  if (!cls.empty()) page.item("class", cls);
  if (!pattern.empty()) page.item("pattern", pattern);
  page.item("meaning", meaning);
  if (!reason.empty()) page.item("because", reason);
}

void add_reasons(Page& page, const Json& document) {
  if (!is(document, "verdict", "inconclusive")) return;
  const Json& reasons = list_of(document, "inconclusive_because");
  page.gap();
  if (reasons.size() > 1) add_texts(page, "because", reasons, "more reason");
  if (count_in(field(document, "coverage"), "records_compared") != 0) {
    page.item("compared", coverage_text(document) + ": no difference found");
  }
}

std::string render(const Json& document, const TextOptions& options) {
  Page page(options);
  const std::string verdict = colored_verdict(page, document);
  page.line(verdict);
  if (options.quiet) return page.text();
  if (is(document, "verdict", "divergent")) {
    add_ladder(page, document);
    add_meaning(page, document);
  }
  add_reasons(page, document);
  add_ranks(page, document);
  add_evidence(page, document);
  if (options.verbosity > 0) add_details(page, document);
  add_notices(page, document);
  add_next(page, document);
  const std::size_t height = options.height == 0 ? k_assumed_height : options.height;
  if (page.line_count() > height) {
    page.gap();
    page.line(verdict);
  }
  return page.text();
}

}  // namespace

Input make_input(const RunInfo& info) {
  Input input;
  input.path = info.path;
  input.format = info.format;
  input.title = info.title;
  input.run_id = info.run_id;
  input.ranks = info.ranks.size();
  input.metrics_only = info.metrics_only;
  for (const auto& rank : info.ranks) input.bytes += rank.bytes;
  return input;
}

Report Report::make(const compare::Comparison& comparison, const Context& context) {
  return Report(std::make_shared<Json>(build_document(comparison, context)));
}

int Report::exit_status() const {
  if (is(*m_document, "verdict", "same")) return 0;
  return is(*m_document, "verdict", "divergent") ? 1 : 3;
}

std::string Report::json() const { return json_text(*m_document); }

std::string Report::text(const TextOptions& options) const { return render(*m_document, options); }

}  // namespace detdiff::report
