#include <array>

#include "compare/comparison.hpp"

namespace detdiff::compare {
namespace {

constexpr std::array<std::string_view, 3> k_verdicts{"same", "divergent", "inconclusive"};
constexpr std::array<std::string_view, 7> k_kinds{"value",  "dtype",        "shape",       "order",
                                                  "kernel", "missing_in_a", "missing_in_b"};
constexpr std::array<std::string_view, 8> k_classes{"origin",   "receiver",     "uncertain", "view",
                                                    "artifact", "control_flow", "restore",   "undecidable"};
constexpr std::array<std::string_view, 6> k_restores{"data",      "rng",       "parameters",
                                                     "optimizer", "scheduler", "forward_state"};
constexpr std::array<std::string_view, 3> k_patterns{"forward", "backward", "optimizer"};

}  // namespace

std::string_view to_string(Verdict verdict) { return k_verdicts[static_cast<std::size_t>(verdict)]; }
std::string_view to_string(Kind kind) { return k_kinds[static_cast<std::size_t>(kind)]; }
std::string_view to_string(Class cls) { return k_classes[static_cast<std::size_t>(cls)]; }
std::string_view to_string(Restore restore) { return k_restores[static_cast<std::size_t>(restore)]; }
std::string_view to_string(MetricPattern pattern) {
  return k_patterns[static_cast<std::size_t>(pattern)];
}

}  // namespace detdiff::compare
