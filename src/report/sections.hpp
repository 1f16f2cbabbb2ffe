#pragma once

#include <cstddef>

#include "report/fields.hpp"
#include "report/page.hpp"

namespace detdiff::report {

/// The parts of the text report, each adding its lines to `page` (or none).

/// One line a level from iteration to tensor, each saying what still matches there; then both
/// fingerprints and the last match.
void add_ladder(Page& page, const Json& document);

/// Both fingerprints of a finding, or what each side has in its place.
void add_sides(Page& page, const Json& finding);

/// The ranks beside the leading one: a table of those that differ, one count for those that do not.
void add_ranks(Page& page, const Json& document);

/// Which logs were compared, how they fit onto each other, what the verdict rests on.
void add_evidence(Page& page, const Json& document);

/// What only a verbose report holds: evidence by kind, later findings, files.
void add_details(Page& page, const Json& document);

/// Notices and next steps.
void add_notices(Page& page, const Json& document);
void add_next(Page& page, const Json& document);

/// One item for each text of `list`, at most TextOptions::max_rows of them; `noun` counts the rest.
void add_texts(Page& page, std::string_view label, const Json& list, std::string_view noun);

/// "N more rows; ..." below a table that shows `shown` of `total` rows; nothing if it shows all.
void add_more(Page& page, std::size_t shown, std::size_t total, std::string_view noun);

}  // namespace detdiff::report
