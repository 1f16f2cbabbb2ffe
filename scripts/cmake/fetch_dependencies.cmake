# The pinned downloads: repository, commit, and the release that the commit is.
# A commit id is a hash of the content, so what is built is what was pinned.

include(FetchContent)

set(detdiff_pin_fmt https://github.com/fmtlib/fmt.git
  e69e5f977d458f2650bb346dadf2ad30c5320281 10.2.1)
set(detdiff_pin_spdlog https://github.com/gabime/spdlog.git
  7c02e204c92545f869e2f04edaab1f19fe8b19fd 1.13.0)
set(detdiff_pin_cli11 https://github.com/CLIUtils/CLI11.git
  6c7b07a878ad834957b98d0f9ce1dbe0cb204fc9 2.4.2)
set(detdiff_pin_nlohmann_json https://github.com/nlohmann/json.git
  9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03 3.11.3)
set(detdiff_pin_simdjson https://github.com/simdjson/simdjson.git
  e1c6a778f8800787bd6846de3f42485f39f558bb 3.8.0)
set(detdiff_pin_xxhash https://github.com/Cyan4973/xxHash.git
  35b0373c697b5f160d3db26b1cbb45a0d5ba788c 0.8.1)
set(detdiff_pin_zlib https://github.com/madler/zlib.git
  51b7f2abdade71cd9bb0e7a373ef2610ec6f9daf 1.3.1)
set(detdiff_pin_zstd https://github.com/facebook/zstd.git
  794ea1b0afca0f020f4e57b6732332231fb23c70 1.5.6)
set(detdiff_pin_catch2 https://github.com/catchorg/Catch2.git
  fa43b77429ba76c462b1898d6cd2f2d7a9416b14 3.7.1)

# Downloads NAME and adds SUBDIR of it, or only downloads it when there is no SUBDIR. Nothing of it
# is built unless used, and nothing is installed. Sets fetched_dir in the caller.
function(detdiff_download name)
  set(subdir "${ARGV1}")
  if(NOT subdir)
    set(subdir sources_only)  # a folder without CMakeLists.txt: FetchContent then adds nothing
  endif()
  list(GET detdiff_pin_${name} 0 repository)
  list(GET detdiff_pin_${name} 1 commit)
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.28)
    FetchContent_Declare(${name} GIT_REPOSITORY ${repository} GIT_TAG ${commit}
      SOURCE_SUBDIR ${subdir} EXCLUDE_FROM_ALL SYSTEM)
    FetchContent_MakeAvailable(${name})
  else()
    FetchContent_Declare(${name} GIT_REPOSITORY ${repository} GIT_TAG ${commit})
    FetchContent_GetProperties(${name})
    if(NOT ${name}_POPULATED)
      FetchContent_Populate(${name})
      if(EXISTS ${${name}_SOURCE_DIR}/${subdir}/CMakeLists.txt)
        add_subdirectory(${${name}_SOURCE_DIR}/${subdir} ${${name}_BINARY_DIR} EXCLUDE_FROM_ALL)
      endif()
    endif()
  endif()
  set(fetched_dir ${${name}_SOURCE_DIR} PARENT_SCOPE)
endfunction()

# The headers of a fetched target are third party: no warnings from them.
function(detdiff_mark_system target)
  get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
  if(directories)
    set_target_properties(${target} PROPERTIES
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${directories}")
  endif()
endfunction()

# Makes NAME from its pin. Sets fetched_target, fetched_version and, for catch2,
# DETDIFF_CATCH_MODULE in the caller.
function(detdiff_fetch name)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # the variables below reach the options of older projects
  set(CMAKE_CXX_STANDARD 20)  # Catch2 has the printers of the standard it was compiled with
  set(CMAKE_CXX_CLANG_TIDY "")
  set(BUILD_SHARED_LIBS OFF)

  if(name STREQUAL "fmt")
    set(FMT_INSTALL OFF)
    detdiff_download(fmt .)
    set(target fmt)
  elseif(name STREQUAL "spdlog")
    set(SPDLOG_FMT_EXTERNAL ON)
    set(SPDLOG_INSTALL OFF)
    detdiff_download(spdlog .)
    set(target spdlog)
  elseif(name STREQUAL "simdjson")
    detdiff_download(simdjson .)
    set(target simdjson)
  elseif(name STREQUAL "catch2")
    set(CATCH_INSTALL_DOCS OFF)
    set(CATCH_INSTALL_EXTRAS OFF)
    detdiff_download(catch2 .)
    set(target Catch2)
    set(DETDIFF_CATCH_MODULE ${fetched_dir}/extras/Catch.cmake PARENT_SCOPE)
  elseif(name STREQUAL "zstd")
    set(ZSTD_BUILD_PROGRAMS OFF)
    set(ZSTD_BUILD_TESTS OFF)
    set(ZSTD_BUILD_SHARED OFF)
    set(ZSTD_LEGACY_SUPPORT OFF)
    detdiff_download(zstd build/cmake)
    set(target libzstd_static)
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${fetched_dir}/lib>)
  elseif(name STREQUAL "zlib")
    # Its own CMake files rename a header in the source folder, so its sources are built here.
    detdiff_download(zlib)
    file(GLOB zlib_sources ${fetched_dir}/*.c)
    set(target detdiff_fetched_zlib)
    add_library(${target} STATIC EXCLUDE_FROM_ALL ${zlib_sources})
    target_compile_definitions(${target} PRIVATE HAVE_UNISTD_H HAVE_HIDDEN)
    target_include_directories(${target} PUBLIC ${fetched_dir})
  else()
    set(header_dir_cli11 include)
    set(header_dir_nlohmann_json include)
    set(header_dir_xxhash .)
    detdiff_download(${name})
    set(target detdiff_fetched_${name})
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${fetched_dir}/${header_dir_${name}})
  endif()

  detdiff_mark_system(${target})
  list(GET detdiff_pin_${name} 2 version)
  set(fetched_target ${target} PARENT_SCOPE)
  set(fetched_version ${version} PARENT_SCOPE)
endfunction()
