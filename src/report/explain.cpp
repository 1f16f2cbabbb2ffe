#include "report/explain.hpp"

#include <array>

namespace detdiff::report {
namespace {

using compare::Class;
using compare::Kind;
using compare::MetricPattern;
using compare::Restore;

enum class Case : std::uint8_t {
  origin,
  receiver,
  uncertain,
  view,
  artifact,
  undecidable,
  missing,
  order,
  dtype,
  shape,
  kernel,
  restore_data,
  restore_rng,
  restore_parameters,
  restore_optimizer,
  restore_scheduler,
  restore_forward_state,
  restore_unknown,
  metric_forward,
  metric_backward,
  metric_optimizer,
  metric_unknown,
  unclassified,
};

struct Row {
  Case id;
  std::string_view meaning;
  std::string_view advice;
};

constexpr std::array k_rows{
    Row{Case::origin,
        "All that it was recorded to depend on is equal, and it differs: the difference was born "
        "here.",
        "see this record, then run its operation alone on these inputs, many times"},
    Row{Case::receiver,
        "An input differs already: the difference came from elsewhere, from another rank or from "
        "something that was not recorded.",
        "see which input differs, then record what produces it (on every rank of its group)"},
    Row{Case::uncertain,
        "The difference is first seen here; what was recorded cannot tell whether it was born "
        "here.",
        "see what was recorded here, then record its inputs too, or a finer level after the "
        "last match"},
    Row{Case::view,
        "A view, slice or concatenation only moves data and cannot create a difference: the "
        "cause is one step upstream and was not recorded.",
        "see what feeds this view, then record that operation (most likely a fused or library "
        "kernel)"},
    Row{Case::artifact,
        "The bytes carry no meaning (stale memory, pointers, or a transfer still in flight): the "
        "recording differs, not the training.",
        "compare again without this record"},
    Row{Case::undecidable,
        "A collective differs and the inputs of some of its members were not recorded: whether "
        "it was born here cannot be decided.",
        "see who took part, then record this collective on every rank of its group"},
    Row{Case::missing,
        "One run executed something that the other did not: they took different paths.",
        "see the extra record, then find what decides whether it runs (settings, data, first "
        "use)"},
    Row{Case::order, "Both runs executed the same records here, in another order.",
        "see this record, then find what orders it (threads, streams, a schedule, iteration "
        "over a set)"},
    Row{Case::dtype,
        "The runs hold this tensor in different element types: they were not set up alike.",
        "see this record, then compare the precision settings of the runs (autocast, fp8, "
        "weights)"},
    Row{Case::shape, "The runs hold this tensor in different shapes: they were not set up alike.",
        "see this record, then compare batch size, padding, sequence length and parallel layout"},
    Row{Case::kernel,
        "The same operation launched another kernel: the choice differs (autotuning, heuristics, "
        "library version), and with it possibly the rounding.",
        "see this record, then pin the choice of kernel (autotuning cache, library version)"},
    Row{Case::restore_data,
        "The resumed run reads other data: what enters the first resumed iteration differs.",
        "see this record, then check that data position and sampler seed are saved and restored"},
    Row{Case::restore_rng,
        "The resumed run draws other random numbers: everything before the first random "
        "operation is equal.",
        "see this record, then check that every generator state (CPU, GPU, each rank) is "
        "restored"},
    Row{Case::restore_parameters,
        "The resumed run starts from other weights: a parameter differs before anything was "
        "computed.",
        "see this record, then compare the checkpoint with the weights right after loading"},
    Row{Case::restore_optimizer,
        "The resumed run updates differently: gradients of the first resumed step are equal, the "
        "weights after it are not, so optimizer state was not restored.",
        "see this record, then check that moments, step counts and main weights are restored"},
    Row{Case::restore_scheduler,
        "The resumed run uses another learning rate or loss scale: scheduler state was not "
        "restored.",
        "see this record, then check that scheduler and loss scaler are restored, not overridden"},
    Row{Case::restore_forward_state,
        "A state that the forward pass carries from step to step was not restored (buffers, "
        "caches, running statistics).",
        "see this record, then check which buffers the module keeps and the checkpoint lacks"},
    Row{Case::restore_unknown,
        "The runs part at the first resumed iteration: something was not restored; what was "
        "recorded cannot tell weights, random state and data apart.",
        "see what can be recorded, then record a trace of the first resumed iteration in both "
        "runs"},
    Row{Case::metric_forward,
        "The loss differs first: the forward pass differs already (weights, random state or "
        "data).",
        "see what can be recorded, then record a trace of this iteration and the one before, in "
        "both runs"},
    Row{Case::metric_backward,
        "Gradients differ before the loss does: the backward pass or the gradient reduction does "
        "not repeat.",
        "see what can be recorded, then record a trace of this backward pass in both runs"},
    Row{Case::metric_optimizer,
        "Loss and gradients agree in one step and both differ in the next: the optimizer's state "
        "or update differs.",
        "see what can be recorded, then record the optimizer step before this one in both runs"},
    Row{Case::metric_unknown,
        "Metrics alone cannot tell where the difference was born: they show it some steps later.",
        "see what can be recorded, then record a trace of the iterations before this one in "
        "both runs"},
    Row{Case::unclassified, "The runs differ here; what was recorded does not say why.",
        "see this record in both runs"},
};

Case restore_case(std::optional<Restore> restore) {
  if (!restore) return Case::restore_unknown;
  switch (*restore) {
    case Restore::data:
      return Case::restore_data;
    case Restore::rng:
      return Case::restore_rng;
    case Restore::parameters:
      return Case::restore_parameters;
    case Restore::optimizer:
      return Case::restore_optimizer;
    case Restore::scheduler:
      return Case::restore_scheduler;
    case Restore::forward_state:
      return Case::restore_forward_state;
  }
  return Case::restore_unknown;
}

Case class_case(Class cls) {
  switch (cls) {
    case Class::origin:
      return Case::origin;
    case Class::receiver:
      return Case::receiver;
    case Class::view:
      return Case::view;
    case Class::artifact:
      return Case::artifact;
    case Class::undecidable:
      return Case::undecidable;
    case Class::uncertain:
      return Case::uncertain;
    case Class::control_flow:
    case Class::restore:
      break;
  }
  return Case::unclassified;
}

Case pattern_case(MetricPattern pattern) {
  switch (pattern) {
    case MetricPattern::forward:
      return Case::metric_forward;
    case MetricPattern::backward:
      return Case::metric_backward;
    case MetricPattern::optimizer:
      return Case::metric_optimizer;
  }
  return Case::unclassified;
}

Case case_of(const Diagnosis& diagnosis) {
  if (diagnosis.cls == Class::restore) {
    const bool inferred = diagnosis.metrics_only && diagnosis.restore == Restore::optimizer;
    return inferred ? Case::metric_optimizer : restore_case(diagnosis.restore);
  }
  switch (diagnosis.kind) {
    case Kind::missing_in_a:
    case Kind::missing_in_b:
      return Case::missing;
    case Kind::order:
      return Case::order;
    case Kind::dtype:
      return Case::dtype;
    case Kind::shape:
      return Case::shape;
    case Kind::kernel:
      return Case::kernel;
    case Kind::value:
      break;
  }
  if (diagnosis.pattern) return pattern_case(*diagnosis.pattern);
  if (diagnosis.metrics_only) return Case::metric_unknown;
  return diagnosis.cls ? class_case(*diagnosis.cls) : Case::unclassified;
}

const Row& row_of(const Diagnosis& diagnosis) {
  const Case id = case_of(diagnosis);
  for (const auto& row : k_rows) {
    if (row.id == id) return row;
  }
  return k_rows.back();
}

}  // namespace

std::string_view meaning_of(const Diagnosis& diagnosis) { return row_of(diagnosis).meaning; }

std::string_view advice_of(const Diagnosis& diagnosis) { return row_of(diagnosis).advice; }

bool asks_to_record(const Diagnosis& diagnosis) {
  switch (case_of(diagnosis)) {
    case Case::restore_unknown:
    case Case::metric_forward:
    case Case::metric_backward:
    case Case::metric_optimizer:
    case Case::metric_unknown:
      return true;
    default:
      return false;
  }
}

std::string_view blind_spot(Evidence evidence) {
  switch (evidence) {
    case Evidence::metadata:
      return "any change of values";
    case Evidence::rounded:
      return "a difference below the last printed digit";
    case Evidence::statistics:
      return "a permutation, or changes that leave mean, norm and extremes alike";
    case Evidence::sampled:
      return "a change in the elements that were not sampled";
    default:
      return "";
  }
}

}  // namespace detdiff::report
