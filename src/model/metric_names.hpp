#pragma once

#include <cstdint>
#include <string_view>

namespace detdiff {

/// What the name of a metric says about it.
struct MetricInfo {
  /// The part of a training step that computes the metric, in the order of execution.
  enum class Phase : std::uint8_t { forward, backward, optimizer, unknown };
  Phase phase = Phase::unknown;
  /// It measures the machine (memory, time, speed) and differs between equal runs: never compared.
  bool environment = false;
  /// It repeats another metric over another axis than the step (Megatron's "lm loss vs samples").
  bool other_axis = false;
};

/// Classifies a metric by the words of its name, as the loggers of Megatron-LM, NeMo, torchtitan,
/// Lightning and Hugging Face spell them.
///
/// Words are runs of letters, digits and bytes outside ASCII; case does not matter, and any other
/// byte separates ("grad-norm", "grad_norm" and "Grad norm" are one name). The first line that
/// holds a run of the name's words decides:
///
///   environment  "mem", "memory", "bytes", "gib", "time", "elapsed", "latency", "throughput",
///                "tflops", "mfu", "per sec", "tokens s", "ms", ...
///   optimizer    "params norm", "learning rate", "lr", "loss scale", "grad scale", "skipped", ...
///   backward     "grad", "gradient", "zeros" (num-zeros counts zero gradients), ...
///   optimizer    "optimizer", "adam", "momentum"
///   forward      "loss", "perplexity", "accuracy", "logits", ...
///
/// Environment is the dangerous answer, because it takes a metric out of the comparison: its words
/// are ones that no numeric metric has. The table in metric_names.cpp is the rule; the phase of an
/// environment metric is unknown.
MetricInfo metric_info(std::string_view name);

/// "forward", "backward", "optimizer"; empty for unknown, as Site::phase has it.
std::string_view to_string(MetricInfo::Phase phase);

}  // namespace detdiff
