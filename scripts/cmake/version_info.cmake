# Writes detdiff/version_info.hpp: what this build is and what it was made from.
# The version is git's description of the checkout, or the project's own in a source archive.

set(DETDIFF_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
set(DETDIFF_VERSION ${PROJECT_VERSION})

find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} describe --tags --always --dirty
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE describe_failed)
  if(NOT describe_failed AND described MATCHES "^v?([0-9]+\\.[0-9].*)$")
    set(DETDIFF_VERSION ${CMAKE_MATCH_1})
  elseif(NOT describe_failed AND described)
    set(DETDIFF_VERSION ${PROJECT_VERSION}+g${described})  # no tag yet: only a commit
  endif()
  if(EXISTS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)  # a new commit configures again
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR}
      APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
  endif()
endif()

set(DETDIFF_BUILD_TYPE ${CMAKE_BUILD_TYPE})
if(CMAKE_CONFIGURATION_TYPES)
  set(DETDIFF_BUILD_TYPE "multi-config")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version_info.hpp.in
  ${DETDIFF_GENERATED_DIR}/detdiff/version_info.hpp @ONLY)
message(STATUS "detdiff: version ${DETDIFF_VERSION}")
