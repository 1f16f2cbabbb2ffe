#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compare/comparison.hpp"
#include "report/report.hpp"

namespace detdiff::report::samples {

/// Parts to build comparisons from.
Digest digest(DigestKind kind, std::string_view hex);
Fingerprint tensor(std::string_view dtype, std::vector<std::int64_t> shape,
                   std::string_view sha256);
Site site(std::uint32_t rank, std::int64_t iteration, std::string phase, std::string module,
          std::string tensor);
Record boundary(Site site, Fingerprint fingerprint, std::uint64_t line);
Record scalar(std::int64_t iteration, std::string name, std::string value, int printed_digits);

/// What a comparison of a megatron-trace pair looks like.
Context context();

/// Eight iterations on two ranks, all equal.
compare::Comparison same();

/// Rank 1 is the origin in iteration 3, rank 0 receives it in the same iteration.
compare::Comparison divergent();

/// `divergent` on `ranks` ranks: of the others every third differs, one iteration later.
compare::Comparison many_ranks(std::uint32_t ranks);

/// B was resumed at iteration 5 without its generator state.
compare::Comparison restore_rng();

/// Rank 0 of B executed one layer norm more.
compare::Comparison control_flow();

/// Rank 1 of B was not recorded.
compare::Comparison missing_rank();

/// Loss curves rounded to five decimals, resumed at 51: gradients differ first.
compare::Comparison metrics();

/// `divergent`, with names, a path and notices that try to do harm.
compare::Comparison hostile();
inline constexpr std::string_view k_hostile =
    "a\x1b[31m\nb\xc2\x9b\xe2\x80\xae\xff\r::error ::##[x]\xf3\xa0\x81\x81\x7f";

}  // namespace detdiff::report::samples
