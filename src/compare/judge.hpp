#pragma once

#include "compare/comparison.hpp"

namespace detdiff::compare {

/// Settles what only all ranks together can tell: classes at collectives and of metrics, the leading
/// finding, coverage, the weakest evidence, the verdict and why it is inconclusive.
void judge(Comparison& comparison, const Options& options);

}  // namespace detdiff::compare
