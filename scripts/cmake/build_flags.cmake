# How our own targets are compiled: warnings, sanitizers, the language level.
# Linked PRIVATE, never exported; third-party code is not touched.

add_library(detdiff_build_flags INTERFACE)
target_compile_features(detdiff_build_flags INTERFACE cxx_std_20)
target_compile_options(detdiff_build_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wpedantic
  $<$<BOOL:${DETDIFF_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # These follow the values through the optimizer, and are wrong about std::optional and
  # std::string often enough that they may warn but not fail.
  foreach(warning IN ITEMS array-bounds free-nonheap-object maybe-uninitialized restrict
      stringop-overflow stringop-overread)
    target_compile_options(detdiff_build_flags INTERFACE -Wno-error=${warning})
  endforeach()
endif()
# Bounds checks of the standard library wherever speed is not the point.
target_compile_definitions(detdiff_build_flags INTERFACE
  $<$<NOT:$<OR:$<CONFIG:Release>,$<CONFIG:MinSizeRel>>>:_GLIBCXX_ASSERTIONS>)

set(DETDIFF_SANITIZERS ${DETDIFF_SANITIZE})
if(DETDIFF_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "DETDIFF_FUZZ needs clang; add -DCMAKE_CXX_COMPILER=clang++ "
      "(this is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION})")
  endif()
  set(DETDIFF_SANITIZERS address,undefined)
  target_compile_options(detdiff_build_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(DETDIFF_SANITIZERS)
  target_compile_options(detdiff_build_flags INTERFACE
    -fsanitize=${DETDIFF_SANITIZERS} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(detdiff_build_flags INTERFACE -fsanitize=${DETDIFF_SANITIZERS})
endif()

# Applies the flags to one of our targets.
function(detdiff_configure_target target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:detdiff_build_flags>)
  if(DETDIFF_SANITIZERS)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# Precompiles the usual headers and HEADERS for a target, where DETDIFF_PRECOMPILE is on: parsing
# them is most of the compile time. Only presets that nobody develops with have it on, since it
# also hides a missing #include.
function(detdiff_precompile target)
  if(DETDIFF_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <chrono> <filesystem> <functional> <map> <memory> <optional> <span> <string>
      <string_view> <unordered_map> <variant> <vector> <fmt/format.h> ${ARGN})
  endif()
endfunction()
