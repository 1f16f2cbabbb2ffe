#include "compare/classify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compare/roles.hpp"

namespace detdiff::compare {
namespace {

constexpr std::array<std::string_view, 18> k_views{
    "view",    "_unsafe_view", "permute", "transpose", "slice",  "as_strided", "reshape", "t",
    "select",  "expand",       "squeeze", "unsqueeze", "detach", "alias",      "split",   "chunk",
    "narrow",  "unbind"};

// "aten.view.default" -> "view".
std::string_view bare_operation(std::string_view operation) {
  if (operation.starts_with("aten.") || operation.starts_with("aten:")) operation.remove_prefix(5);
  return operation.substr(0, operation.find('.'));
}

bool is_view(const Record& record) {
  const std::string_view name = bare_operation(record.site.operation);
  if (std::find(k_views.begin(), k_views.end(), name) != k_views.end()) return true;
  return std::any_of(record.outputs.begin(), record.outputs.end(),
                     [](const Fingerprint& tensor) { return tensor.view; });
}

void set(Finding& finding, Class cls, std::string reason) {
  finding.cls = cls;
  finding.reason = std::move(reason);
}

void set_restore(Finding& finding, Restore restore, std::string reason) {
  set(finding, Class::restore, std::move(reason));
  finding.restore = restore;
}

// Whether the first difference after a restart shows which state was not restored.
bool classify_restore(Finding& finding, const Context& context) {
  const Record& record = finding.record();
  const Role role = role_of(record);
  const bool optimizer = is_optimizer_phase(record.site.phase);
  switch (role) {
    case Role::data:
      set_restore(finding, Restore::data,
                  "the first resumed iteration was fed other data: the data position was not restored");
      return true;
    case Role::schedule:
      set_restore(finding, Restore::scheduler,
                  "learning rate or loss scale differ at the first resumed iteration");
      return true;
    case Role::optimizer_state:
      set_restore(finding, Restore::optimizer, "optimizer state differs at the first resumed iteration");
      return true;
    case Role::rng:
      if (context.gradients_seen || optimizer) return false;
      set_restore(finding, Restore::rng,
                  "everything before the first dropout matches, the dropout does not: the generator "
                  "state was not restored");
      return true;
    case Role::parameter:
      if (optimizer || (context.gradients_seen && context.compute_seen)) {
        if (!context.gradients_seen) return false;
        set_restore(finding, Restore::optimizer,
                    "gradients match and the parameters after the step do not: the optimizer state "
                    "was not restored");
        return true;
      }
      if (context.compute_seen) return false;
      set_restore(finding, Restore::parameters,
                  "a parameter differs before any computation of the first resumed iteration");
      return true;
    default: return false;
  }
}

void classify_call(Finding& finding) {
  const Record& record = finding.record();
  if (finding.match.inputs_differ) {
    return set(finding, Class::receiver, "an input differs already: the difference came from elsewhere");
  }
  const auto known = [](const std::optional<Record>& side) {
    return side && side->inputs_recorded && !side->inputs.empty() &&
           std::all_of(side->inputs.begin(), side->inputs.end(), [](const Fingerprint& tensor) {
             return tensor.best_evidence() >= Evidence::statistics;
           });
  };
  if (!known(finding.a) || !known(finding.b)) {
    return set(finding, Class::uncertain,
               "its inputs were not recorded: whether it was born here cannot be told");
  }
  if (is_view(record)) {
    return set(finding, Class::view,
               "a view cannot make a difference: the cause wrote its storage and was not recorded");
  }
  const auto blind = [](const Fingerprint& tensor) {
    return tensor.best_evidence() < Evidence::checksum;
  };
  if (std::any_of(finding.a->inputs.begin(), finding.a->inputs.end(), blind)) {
    return set(finding, Class::origin,
               "its recorded inputs match, as far as their digests can tell, and its output differs");
  }
  set(finding, Class::origin, "all its inputs match and its output differs: it was born here");
}

void classify_boundary(Finding& finding, const Context& context) {
  const Role role = role_of(finding.record());
  if (finding.record().kind != RecordKind::boundary || role == Role::metric || role == Role::schedule) {
    return set(finding, Class::uncertain,
               "a value of the whole step: the record that made it differ was not recorded");
  }
  if (role == Role::data) {
    return set(finding, Class::uncertain, "the runs were fed other data");
  }
  if (role == Role::parameter && !context.compute_seen) {
    return set(finding, Class::uncertain,
               "a parameter differs before this iteration computed anything: the cause lies before it");
  }
  if (context.matched_tensors == 0) {
    return set(finding, Class::uncertain, "no tensor with values precedes it in this iteration");
  }
  if (context.weakest < Evidence::order_blind) {
    return set(finding, Class::uncertain,
               fmt::format("what precedes it in this iteration matches only by {}, which can hide an "
                           "earlier difference",
                           to_string(context.weakest)));
  }
  set(finding, Class::origin,
      "the log has no inputs, but every record before it in this iteration matches");
}

}  // namespace

void note(const Record& record, std::int64_t iteration, Context& context) {
  const Site& site = record.site;
  if (context.phases.empty() || context.phases.back() != site.phase) {
    if (std::find(context.phases.begin(), context.phases.end(), site.phase) == context.phases.end()) {
      context.phases.push_back(site.phase);
    }
  }
  const CollectivePart part = collective_part(record, iteration);
  if (part.side == CollectivePart::Side::input) context.collective_inputs.push_back(part.key);
  switch (role_of(record)) {
    case Role::gradient: context.gradients_seen = context.compute_seen = true; break;
    case Role::rng: context.compute_seen = true; break;
    case Role::other:
      if (record.kind == RecordKind::boundary || record.kind == RecordKind::call) {
        context.compute_seen = true;
      }
      if (part.side != CollectivePart::Side::none) context.gradients_seen = true;
      break;
    default: break;
  }
}

void classify(Finding& finding, const Context& context, std::int64_t iteration) {
  const Record& record = finding.record();
  switch (finding.kind) {
    case Kind::missing_in_a:
    case Kind::missing_in_b:
      return set(finding, Class::control_flow,
                 "one run did something the other did not: control flow or configuration differ");
    case Kind::order:
      return set(finding, Class::control_flow, "both runs recorded it, at another place in the order");
    case Kind::kernel:
    case Kind::dtype:
    case Kind::shape:
    case Kind::value: break;
  }
  if (finding.kind == Kind::value && context.first_resumed && classify_restore(finding, context)) return;
  const CollectivePart part = collective_part(record, iteration);
  if (part.side == CollectivePart::Side::output || part.side == CollectivePart::Side::whole) {
    finding.collective = part.key;
    finding.own_input_matched =
        part.side == CollectivePart::Side::whole
            ? record.inputs_recorded && !record.inputs.empty() && !finding.match.inputs_differ
            : std::find(context.collective_inputs.begin(), context.collective_inputs.end(), part.key) !=
                  context.collective_inputs.end();
  }
  if (record.kind == RecordKind::call) return classify_call(finding);
  classify_boundary(finding, context);
}

}  // namespace detdiff::compare
