#pragma once

#include <string_view>

#include "detdiff/site.hpp"

namespace detdiff::formats {

/// Splits a flat tensor name, as tracers without module fields write it, into the levels of a site:
/// "decoder.layers.1.mlp.linear_fc2.weight.grad" into module and tensor "weight.grad",
/// "allreduce.bucket0.output" into operation "allreduce" and tensor "bucket0.output". A name that
/// says no more than itself becomes the tensor ("tokens"), a dotted one without a known ending the
/// module, whose output was recorded. Sets site.name to the whole; never fails.
void split_name(std::string_view name, Site& site);

}  // namespace detdiff::formats
