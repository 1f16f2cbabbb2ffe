#include "report/document.hpp"
#include "report/explain.hpp"
#include "report/record_json.hpp"
#include "report/shell.hpp"
#include "report/utf8.hpp"

namespace detdiff::report {
namespace {

using compare::Comparison;
using compare::Finding;
using compare::Kind;
using compare::Verdict;

// A glob that matches only this text.
std::string as_glob(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

class Steps {
 public:
  explicit Steps(const Context& context) : m_context(context) {}

  void add(std::string_view text, const std::string& command = {}) {
    const std::string safe = to_utf8(command);
    for (const auto& step : m_steps) {
      if (!safe.empty() && step["command"] == safe) return;
    }
    Json step;
    step["text"] = to_utf8(text);
    step["command"] = safe.empty() ? Json(nullptr) : Json(safe);
    m_steps.push_back(std::move(step));
  }

  [[nodiscard]] std::string show(std::size_t side, const Site* site) const {
    if (side >= m_context.inputs.size()) return {};
    std::vector<std::string> operands{m_context.inputs[side].path};
    if (site != nullptr) operands.push_back(to_string(*site));
    return command_line({"show"}, operands);
  }

  // The same comparison without the records of this name.
  [[nodiscard]] std::string compare_without(const Record& record) const {
    if (m_context.inputs.size() < 2) return {};
    std::vector<std::string> words{"compare"};
    for (const auto& filter : m_context.filters) {
      const std::size_t space = filter.find(' ');
      words.push_back(filter.substr(0, space));
      if (space != std::string::npos) words.push_back(filter.substr(space + 1));
    }
    words.emplace_back("--skip");
    words.push_back("name=" + as_glob(record.site.name));
    return command_line(words, {m_context.inputs[0].path, m_context.inputs[1].path});
  }

  Json take() { return std::move(m_steps); }

 private:
  const Context& m_context;
  Json m_steps = Json::array();
};

// The place of a finding as B's log counts it.
Site site_in_b(const Comparison& comparison, const Finding& finding) {
  Site site = finding.b ? finding.b->site : finding.record().site;
  site.iteration = finding.record().site.iteration;
  if (site.iteration) *site.iteration += comparison.offset;
  return site;
}

void add_divergent(Steps& steps, const Comparison& comparison) {
  const Finding* first = comparison.first();
  if (first == nullptr) return;
  const Diagnosis diagnosis = diagnosis_of(comparison, *first);
  const std::string in_a = first->a ? steps.show(0, &first->a->site) : std::string();
  const Site b = site_in_b(comparison, *first);
  const std::string in_b = first->b ? steps.show(1, &b) : std::string();
  const bool in_resumed_b = diagnosis.cls == compare::Class::restore && comparison.resumed == 'b';
  std::string main = in_a.empty() || (in_resumed_b && !in_b.empty()) ? in_b : in_a;
  if (asks_to_record(diagnosis)) main = "detdiff help formats";
  if (diagnosis.cls == compare::Class::artifact) main = steps.compare_without(first->record());
  steps.add(advice_of(diagnosis), main);
  if (!in_b.empty()) steps.add("the same record in B", in_b);
  if (!in_a.empty()) steps.add("the same record in A", in_a);
  if (first->last_match) {
    steps.add("the last record that still matches", steps.show(0, &first->last_match->site));
  }
  if (diagnosis.cls == compare::Class::restore) {
    steps.add("how resumed runs are compared", "detdiff help resume");
  }
  steps.add("what the class and the evidence mean", "detdiff help semantics");
}

void add_missing_ranks(Steps& steps, const Comparison& comparison) {
  for (const auto& rank : comparison.ranks) {
    if (rank.in_a && rank.in_b) continue;
    const std::string name = rank.rank ? "rank " + std::to_string(*rank.rank) : "this log";
    steps.add("record " + name + (rank.in_a ? " of B" : " of A") +
                  " as well, or leave it out of the comparison on purpose",
              steps.show(rank.in_a ? 1 : 0, nullptr));
    return;
  }
}

void add_damage(Steps& steps, const Comparison& comparison) {
  for (const auto& rank : comparison.ranks) {
    for (const std::size_t side : {0U, 1U}) {
      const auto& damage = side == 0 ? rank.a.damage : rank.b.damage;
      if (!damage) continue;
      const std::string name = rank.rank ? "rank " + std::to_string(*rank.rank) + " of " : "";
      steps.add("the log of " + name + (side == 0 ? "A" : "B") +
                    " ends early: see what it holds, and record its last iterations again",
                steps.show(side, nullptr));
      return;
    }
  }
}

void add_inconclusive(Steps& steps, const Comparison& comparison) {
  if (comparison.records_compared == 0) {
    steps.add("see which ranks, iterations and names each log holds", steps.show(0, nullptr));
    steps.add("the same for B", steps.show(1, nullptr));
  }
  add_missing_ranks(steps, comparison);
  add_damage(steps, comparison);
  if (comparison.evidence.not_comparable != 0) {
    steps.add("record both runs with the same kind of digest: different kinds never compare",
              "detdiff help semantics");
  }
  if (comparison.records_compared != 0 && comparison.weakest < comparison.required) {
    steps.add(comparison.weakest <= Evidence::metadata
                  ? "record values (digests) in both runs: dtype and shape alone prove nothing"
                  : "record stronger evidence in both runs, or ask for less with --require",
              "detdiff help formats");
  }
  steps.add("when a comparison is inconclusive", "detdiff help semantics");
}

void add_same(Steps& steps, const Comparison& comparison) {
  if (comparison.weakest >= Evidence::checksum) return;
  steps.add("record full digests if equal bits have to be proven", "detdiff help formats");
}

}  // namespace

Json next_steps(const Comparison& comparison, const Context& context) {
  Steps steps(context);
  switch (comparison.verdict) {
    case Verdict::divergent:
      add_divergent(steps, comparison);
      break;
    case Verdict::inconclusive:
      add_inconclusive(steps, comparison);
      break;
    case Verdict::same:
      add_same(steps, comparison);
      break;
  }
  return steps.take();
}

}  // namespace detdiff::report
