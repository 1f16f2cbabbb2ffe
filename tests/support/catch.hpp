#pragma once

// Catch2 in either of the versions that distributions carry: 3 (split headers) or 2 (one header).
// Tests keep to what both share.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
