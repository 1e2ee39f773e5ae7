# The compiler settings of all targets. Third-party headers are system headers, so the strict
# warnings apply only to the code of this repository.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Dev" FORCE)
endif()

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_INCLUDE_CURRENT_DIR OFF)

# CHECK is always on; NDEBUG disables only the asserts of third-party headers.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEV "-O1 -g")
set(CMAKE_C_FLAGS_DEV "-O1 -g")

add_compile_options(-Wall -Wextra -Wconversion -Werror -fno-omit-frame-pointer)

# __FILE__ is relative to the root of the sources, so that messages and programs contain no path of
# the machine that built them.
add_compile_options("-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")

# GCC 12 reports uninitialized and dangling storage and strings of impossible lengths inside its own
# headers, depending on what it inlines, instruments or precompiles; clang-tidy and the sanitizers
# find the same faults without false positives.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  foreach(noise IN ITEMS maybe-uninitialized restrict array-bounds stringop-overflow stringop-overread)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-${noise}>)
  endforeach()
endif()

option(TILEWRIGHT_VERIFY "Run the IR verifier after every pass" OFF)
if(TILEWRIGHT_VERIFY)
  add_compile_definitions(TILEWRIGHT_VERIFY=1)
endif()

set(TILEWRIGHT_SANITIZE "" CACHE STRING "Sanitizers for everything, such as address,undefined")
if(TILEWRIGHT_SANITIZE)
  add_compile_options(-fsanitize=${TILEWRIGHT_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TILEWRIGHT_SANITIZE})
  # libstdc++'s atomic_thread_fence is not modeled by the thread sanitizer; its uses are known.
  if(TILEWRIGHT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)
  endif()
endif()

# Tests take this much longer with a sanitizer. Their time limits are multiplied by it; base/sanitizer.h has
# the same numbers.
set(TILEWRIGHT_TEST_SLOWDOWN 1)
if(TILEWRIGHT_SANITIZE MATCHES "thread")
  set(TILEWRIGHT_TEST_SLOWDOWN 15)
elseif(TILEWRIGHT_SANITIZE MATCHES "address")
  set(TILEWRIGHT_TEST_SLOWDOWN 5)
endif()

option(TILEWRIGHT_FUZZ "Build the fuzz targets (clang only)" OFF)
if(TILEWRIGHT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TILEWRIGHT_FUZZ needs clang; use the preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# ccache stores precompiled headers, and objects compiled with them, only with these settings, which
# state that their macros do not change. The variable replaces the user's list, which is therefore repeated.
find_program(CCACHE ccache)
if(CCACHE)
  execute_process(COMMAND "${CCACHE}" --get-config sloppiness
                  OUTPUT_VARIABLE sloppiness OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE ", " ";" sloppiness "${sloppiness}")
  list(APPEND sloppiness pch_defines time_macros)
  list(REMOVE_DUPLICATES sloppiness)
  list(JOIN sloppiness "," sloppiness)
  set(CMAKE_CXX_COMPILER_LAUNCHER env "CCACHE_SLOPPINESS=${sloppiness}" "${CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
endif()
