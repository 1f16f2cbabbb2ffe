#include "formats/name_levels.hpp"

#include <array>

namespace detdiff::formats {
namespace {

// Longest first where one ends in another.
constexpr std::array<std::string_view, 15> k_endings{
    ".weight.main_grad", ".weight.grad", ".bias.main_grad", ".bias.grad", ".grad_output",
    ".grad_input",       ".main_grad",   ".exp_avg_sq",     ".exp_avg",   ".weight",
    ".bias",             ".input",       ".output",         ".grad",      ".inputs"};

constexpr std::array<std::string_view, 14> k_collectives{
    "allreduce",      "all_reduce",  "reduce_scatter", "reducescatter", "allgather",
    "all_gather",     "alltoall",    "all_to_all",     "broadcast",     "p2p_send",
    "p2p_recv",       "send_forward", "recv_forward",  "barrier"};

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || text[word.size()] == '.' ||
                                    text[word.size()] == '_' || text[word.size()] == '/');
}

}  // namespace

void split_name(std::string_view name, Site& site) {
  site.name = name;
  site.module.clear();
  site.operation.clear();
  site.kernel.clear();
  site.tensor.clear();
  for (const std::string_view collective : k_collectives) {
    if (!starts_with_word(name, collective)) continue;
    const std::size_t dot = name.find('.');
    site.operation = name.substr(0, dot);
    if (dot != std::string_view::npos) site.tensor = name.substr(dot + 1);
    return;
  }
  for (const std::string_view ending : k_endings) {
    if (name.size() <= ending.size() || !name.ends_with(ending)) continue;
    site.module = name.substr(0, name.size() - ending.size());
    site.tensor = ending.substr(1);
    return;
  }
  // "loss.lm loss" is a metric with its own name, not a module.
  if (name.find('.') == std::string_view::npos || name.starts_with("loss.")) {
    site.tensor = name;
  } else {
    site.module = name;
    site.tensor = "output";
  }
}

}  // namespace detdiff::formats
