#include "compare/roles.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <string>

#include "model/metric_names.hpp"

namespace detdiff::compare {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool is_word_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// True if `word` stands in `text` with no letter or digit beside it; "_" separates words.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) &&
        (end == text.size() || !is_word_character(text[end]))) {
      return true;
    }
  }
  return false;
}

template <std::size_t N>
bool has_any_word(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [text](auto word) { return has_word(text, word); });
}

constexpr std::array<std::string_view, 15> k_data{
    "tokens", "token_ids", "input_ids", "inputs_ids", "labels", "targets", "loss_mask",
    "attention_mask", "position_ids", "batch", "sample", "samples", "data", "cu_seqlens", "pixel_values"};
constexpr std::array<std::string_view, 8> k_rng{"dropout", "bernoulli", "rng", "rng_state",
                                                "randn", "rand", "drop_path", "randperm"};
constexpr std::array<std::string_view, 5> k_gradient{"grad", "main_grad", "grad_output", "grad_input",
                                                     "wgrad"};
constexpr std::array<std::string_view, 6> k_optimizer{"exp_avg", "exp_avg_sq", "momentum_buffer",
                                                      "optimizer_state", "master_weight", "step"};
constexpr std::array<std::string_view, 5> k_schedule{"learning rate", "learning_rate", "lr",
                                                     "loss scale", "loss_scale"};
constexpr std::array<std::string_view, 3> k_parameter{"weight", "bias", "param"};
constexpr std::array<std::string_view, 11> k_collective{
    "allreduce", "all_reduce", "reduce_scatter", "reducescatter", "allgather", "all_gather",
    "alltoall", "all_to_all", "_reduce_scatter_base", "_all_gather_base", "broadcast"};

bool is_collective(std::string_view operation) {
  return std::any_of(k_collective.begin(), k_collective.end(),
                     [operation](auto name) { return operation.find(name) != std::string_view::npos; });
}

// "bucket0.output" -> "bucket0" and true.
bool cut_ending(std::string_view& text, std::string_view ending) {
  if (text == ending) {
    text = {};
    return true;
  }
  if (text.size() <= ending.size() || !text.ends_with(ending) ||
      text[text.size() - ending.size() - 1] != '.') {
    return false;
  }
  text.remove_suffix(ending.size() + 1);
  return true;
}

}  // namespace

Role role_of(const Record& record) {
  const std::string name = lower(record.site.name);
  const std::string last = name.substr(name.find_last_of('.') + 1);
  if (has_any_word(name, k_schedule)) return Role::schedule;
  if (record.kind == RecordKind::scalar) return Role::metric;
  if (record.kind == RecordKind::event) return Role::other;
  if (name.starts_with("loss.") || last == "loss") return Role::metric;
  if (has_any_word(name, k_gradient)) return Role::gradient;
  if (has_any_word(last, k_optimizer)) return Role::optimizer_state;
  const std::string operation = lower(record.site.operation);
  if (has_any_word(last, k_rng) || last.find("dropout") != std::string::npos ||
      has_any_word(operation, k_rng) || operation.find("dropout") != std::string::npos) {
    return Role::rng;
  }
  if (has_any_word(last, k_parameter) && record.kind == RecordKind::boundary) return Role::parameter;
  if (has_any_word(last, k_data) && record.site.operation.empty()) return Role::data;
  return Role::other;
}

bool is_optimizer_phase(const std::string& phase) {
  const std::string name = lower(phase);
  return name.find("optim") != std::string::npos || name == "step" || name == "update" ||
         name == "post";
}

bool begins_iteration(const Record& record) {
  return record.kind == RecordKind::event && record.site.name == "iteration_start";
}

CollectivePart collective_part(const Record& record, std::int64_t iteration) {
  CollectivePart part;
  if (!is_collective(lower(record.site.operation))) return part;
  std::string_view tensor = record.site.tensor;
  if (record.kind == RecordKind::call) {
    part.side = CollectivePart::Side::whole;
  } else if (cut_ending(tensor, "input")) {
    part.side = CollectivePart::Side::input;
  } else if (cut_ending(tensor, "output")) {
    part.side = CollectivePart::Side::output;
  } else {
    return part;
  }
  std::string text = std::to_string(iteration) + '\n' + record.site.phase + '\n' +
                     std::to_string(record.site.microbatch.value_or(-1)) + '\n' +
                     record.site.module + '\n' + record.site.operation + '\n' +
                     std::string(tensor) + '\n' + record.group + '\n' +
                     std::to_string(record.site.occurrence);
  part.key = XXH3_64bits(text.data(), text.size());
  return part;
}

MetricPhase metric_phase(const Record& record) {
  std::string_view name = record.site.name;
  if (name.starts_with("loss.")) name.remove_prefix(5);
  switch (metric_info(name).phase) {
    case MetricInfo::Phase::forward: return MetricPhase::forward;
    case MetricInfo::Phase::backward: return MetricPhase::backward;
    case MetricInfo::Phase::optimizer: return MetricPhase::optimizer;
    case MetricInfo::Phase::unknown: break;
  }
  return record.site.name.starts_with("loss.") ? MetricPhase::forward : MetricPhase::unknown;
}

}  // namespace detdiff::compare
