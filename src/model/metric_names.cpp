#include "model/metric_names.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace detdiff {
namespace {

using Phase = MetricInfo::Phase;

// Runs of words; each is matched as whole words, in this order inside the name.
constexpr std::array<std::string_view, 50> k_environment{
    // memory
    "mem", "memory", "bytes", "gib", "mib",
    // time
    "time", "times", "timing", "timings", "timer", "timers", "timestamp", "walltime", "wall clock",
    "elapsed", "duration", "latency", "runtime", "seconds", "secs", "sec", "ms",
    // speed
    "throughput", "bandwidth", "speed", "tps", "tgs", "mfu", "hfu", "flops", "tflop", "tflops",
    "gflops", "pflops", "per second", "tokens s", "tok s", "samples s", "steps s", "iter s",
    "iters s", "it s", "s it",
    // the machine itself
    "gpu util", "gpu utilization", "gpu power", "gpu temp", "gpu temperature", "cpu util",
    // Lightning's number of the run
    "v num"};

struct Rule {
  std::string_view words;
  Phase phase;
};

constexpr std::array<Rule, 43> k_phases{{
    {"params norm", Phase::optimizer},
    {"param norm", Phase::optimizer},
    {"parameter norm", Phase::optimizer},
    {"parameters norm", Phase::optimizer},
    {"weight norm", Phase::optimizer},
    {"weights norm", Phase::optimizer},
    {"update norm", Phase::optimizer},
    {"learning rate", Phase::optimizer},
    {"lr", Phase::optimizer},
    {"weight decay", Phase::optimizer},
    {"loss scale", Phase::optimizer},
    {"loss scaler", Phase::optimizer},
    {"grad scale", Phase::optimizer},
    {"grad scaler", Phase::optimizer},
    {"skipped", Phase::optimizer},
    {"grad", Phase::backward},
    {"grads", Phase::backward},
    {"gradient", Phase::backward},
    {"gradients", Phase::backward},
    {"gnorm", Phase::backward},
    {"zeros", Phase::backward},
    {"optimizer", Phase::optimizer},
    {"adam", Phase::optimizer},
    {"momentum", Phase::optimizer},
    {"loss", Phase::forward},
    {"losses", Phase::forward},
    {"perplexity", Phase::forward},
    {"ppl", Phase::forward},
    {"nll", Phase::forward},
    {"bpb", Phase::forward},
    {"entropy", Phase::forward},
    {"accuracy", Phase::forward},
    {"acc", Phase::forward},
    {"logit", Phase::forward},
    {"logits", Phase::forward},
    {"logprob", Phase::forward},
    {"logprobs", Phase::forward},
    {"kl", Phase::forward},
    {"reward", Phase::forward},
    {"rewards", Phase::forward},
    {"activation", Phase::forward},
    {"activations", Phase::forward},
    {"router", Phase::forward},
}};

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

// " lm loss ": lower case, one space around every word.
std::string words_of(std::string_view name) {
  std::string words = " ";
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (in_word(c)) {
      words += c;
    } else if (words.back() != ' ') {
      words += ' ';
    }
  }
  if (words.back() != ' ') words += ' ';
  return words;
}

bool has(std::string_view words, std::string_view run) {
  for (std::size_t at = words.find(run); at != std::string_view::npos;
       at = words.find(run, at + 1)) {
    if (words[at - 1] == ' ' && words[at + run.size()] == ' ') return true;
  }
  return false;
}

}  // namespace

MetricInfo metric_info(std::string_view name) {
  const std::string words = words_of(name);
  MetricInfo info;
  info.other_axis = words.ends_with(" vs samples ");
  info.environment = std::any_of(k_environment.begin(), k_environment.end(),
                                 [&words](std::string_view run) { return has(words, run); });
  if (info.environment) return info;
  const auto rule = std::find_if(k_phases.begin(), k_phases.end(),
                                 [&words](const Rule& r) { return has(words, r.words); });
  if (rule != k_phases.end()) info.phase = rule->phase;
  return info;
}

std::string_view to_string(MetricInfo::Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::optimizer:
      return "optimizer";
    case Phase::unknown:
      break;
  }
  return {};
}

}  // namespace detdiff
