# Embeds the manual: src/report/manual/*.md become C++ that defines detdiff::manual::topics().
# Sets DETDIFF_MANUAL_SOURCE. A changed, new or removed page regenerates it.

set(DETDIFF_MANUAL_SOURCE ${DETDIFF_GENERATED_DIR}/manual_topics.cpp)
file(GLOB manual_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/report/manual/*.md)
file(WRITE ${DETDIFF_GENERATED_DIR}/manual_pages.txt.new "${manual_pages}")
file(COPY_FILE ${DETDIFF_GENERATED_DIR}/manual_pages.txt.new
  ${DETDIFF_GENERATED_DIR}/manual_pages.txt ONLY_IF_DIFFERENT)

add_custom_command(
  OUTPUT ${DETDIFF_MANUAL_SOURCE}
  COMMAND ${CMAKE_COMMAND}
    -DPAGES_DIR=${PROJECT_SOURCE_DIR}/src/report/manual
    -DOUTPUT=${DETDIFF_MANUAL_SOURCE}
    -P ${CMAKE_CURRENT_LIST_DIR}/embed_manual.cmake
  DEPENDS ${manual_pages} ${DETDIFF_GENERATED_DIR}/manual_pages.txt
    ${CMAKE_CURRENT_LIST_DIR}/embed_manual.cmake
  COMMENT "Embedding the manual"
  VERBATIM)
# Clang, not GCC, minds a literal of more than 64 KiB.
set_source_files_properties(${DETDIFF_MANUAL_SOURCE} PROPERTIES
  COMPILE_OPTIONS $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-overlength-strings>)
