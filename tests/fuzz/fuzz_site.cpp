#include <cstdlib>
#include <string_view>

#include "detdiff/site.hpp"

// What parses prints to something that parses to the same site, and matches it as a pattern.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace detdiff;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto site = parse_site(text);
  if (!site) return 0;
  const std::string printed = to_string(*site);
  auto again = parse_site(printed);
  // A site of nothing but occurrence 0 or a name prints as less; all else comes back.
  if (printed.empty()) return 0;
  if (!again || to_string(*again) != printed) std::abort();
  auto pattern = parse_site_pattern(printed);
  if (!pattern || !matches(*pattern, *again)) std::abort();
  return 0;
}
