# Precompiled headers, which only shorten the build. Every source still includes what it uses;
# tools/run_tidy.py reads the sources without them. A header belongs here when many sources include
# it and it never changes: headers of the standard library, fmt and GoogleTest, none of this repository.
#
# Each list is compiled once and shared by all targets of its kind:
#   tilewright_pch_library   position-independent code, for static libraries
#   tilewright_pch_program   for executables
#   tilewright_pch_test      for executables, with GoogleTest

set(pch_headers
  <algorithm> <array> <atomic> <bit> <cmath> <cstddef> <cstdint> <cstring> <expected> <filesystem>
  <functional> <initializer_list> <limits> <map> <memory> <numeric> <optional> <set> <span>
  <stdexcept> <string> <string_view> <tuple> <type_traits> <unordered_map> <unordered_set>
  <utility> <variant> <vector> <fmt/format.h>)

file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/empty.cc" CONTENT "")

# tilewright_precompile(NAME DEPS t... HEADERS <h>...)
# DEPS determine the definitions for the headers; targets that use them must have the same ones.
function(tilewright_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS;HEADERS")
  add_library(${name} OBJECT "${PROJECT_BINARY_DIR}/empty.cc")
  target_link_libraries(${name} PRIVATE fmt::fmt Threads::Threads ${arg_DEPS})
  list(TRANSFORM arg_HEADERS REPLACE ".+" "$<$<COMPILE_LANGUAGE:CXX>:\\0>")
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
  # Clang writes the time stamps of headers into its output, which ccache would then never find again.
  target_compile_options(${name} PRIVATE
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

tilewright_precompile(tilewright_pch_library HEADERS ${pch_headers})
tilewright_precompile(tilewright_pch_program HEADERS ${pch_headers})
tilewright_precompile(tilewright_pch_test
  HEADERS ${pch_headers} <gtest/gtest.h> <gmock/gmock.h>
  DEPS GTest::gtest GTest::gmock)
set_target_properties(tilewright_pch_program tilewright_pch_test PROPERTIES
  POSITION_INDEPENDENT_CODE OFF)
target_compile_options(tilewright_pch_program PRIVATE -fPIE)
target_compile_options(tilewright_pch_test PRIVATE -fPIE)

# tilewright_use_precompiled(TARGET library|program|test)
# C sources do not use precompiled headers.
function(tilewright_use_precompiled target kind)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.c$")
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_precompile_headers(${target} REUSE_FROM tilewright_pch_${kind})
endfunction()
