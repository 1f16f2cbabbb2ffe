# Run with cmake -P: writes the pages PAGES_DIR/*.md into the C++ file OUTPUT, sorted by name.
#
# The text goes out as one ordinary literal a line, with backslash, quote and tab escaped: unlike
# a raw string no text can end it early, and no single literal gets long.

cmake_minimum_required(VERSION 3.22)

file(GLOB pages ${PAGES_DIR}/*.md)
set(names)
foreach(page IN LISTS pages)
  get_filename_component(name ${page} NAME_WLE)
  list(APPEND names ${name})
endforeach()
list(SORT names)
list(LENGTH names count)

set(topics "")
foreach(name IN LISTS names)
  file(READ ${PAGES_DIR}/${name}.md text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\t" "\\t" text "${text}")
  string(REPLACE "\r\n" "\n" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND topics "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()

file(WRITE ${OUTPUT} "// Written by scripts/cmake/embed_manual.cmake from src/report/manual/*.md: edit those.
#include \"report/manual.hpp\"

#include <array>

namespace detdiff::manual {
namespace {

constexpr std::array<Topic, ${count}> all_topics{{
${topics}}};

}  // namespace

std::span<const Topic> topics() { return all_topics; }

}  // namespace detdiff::manual
")
