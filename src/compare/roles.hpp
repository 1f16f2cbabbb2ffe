#pragma once

#include <cstdint>

#include "detdiff/record.hpp"

namespace detdiff::compare {

/// What a record is to a training step, told from its names. Names are conventions of the field
/// (Megatron-LM, PyTorch), so a role is a hint: it decides how a finding is explained, never whether
/// there is one.
enum class Role : std::uint8_t {
  other,
  data,             ///< tokens, labels, masks: what the data loader delivered
  parameter,        ///< a weight or bias
  gradient,         ///< a gradient of a parameter or an activation
  rng,              ///< a generator state, or the first thing that consumes one (dropout)
  optimizer_state,  ///< Adam's moments and the like
  schedule,         ///< learning rate, loss scale
  metric,           ///< loss, norms, counts of a whole step
};
Role role_of(const Record& record);

/// True for the phase names in which an optimizer updates parameters.
bool is_optimizer_phase(const std::string& phase);

/// True for the event with which Megatron-LM begins an iteration; a second one is a restart.
bool begins_iteration(const Record& record);

/// Where a record belongs to a collective operation.
struct CollectivePart {
  enum class Side : std::uint8_t { none, input, output, whole };
  Side side = Side::none;   ///< whole: one record holds inputs and outputs
  std::uint64_t key = 0;    ///< equal on all members: iteration, phase, microbatch, operation, occurrence
};
/// `iteration` as A counts it, so that both runs give one key.
CollectivePart collective_part(const Record& record, std::int64_t iteration);

/// What a metric measures; see model/metric_names.hpp for the rules.
enum class MetricPhase : std::uint8_t { forward, backward, optimizer, unknown };
MetricPhase metric_phase(const Record& record);

}  // namespace detdiff::compare
