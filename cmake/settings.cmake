# How everything of ours is compiled. Third-party headers are system headers, so the strict
# warnings hold for our own code only.

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

# CHECK is ours and always on; NDEBUG silences only the asserts inside third-party headers.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEV "-O1 -g")
set(CMAKE_C_FLAGS_DEV "-O1 -g")

add_compile_options(-Wall -Wextra -Wconversion -Werror -fno-omit-frame-pointer)

# GCC 12 reports uninitialized and dangling storage inside its own headers once it inlines or
# instruments them; clang-tidy and the sanitizers look for the same faults without the noise.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

option(TILEWRIGHT_VERIFY "Run the IR verifier after every pass" OFF)
if(TILEWRIGHT_VERIFY)
  add_compile_definitions(TILEWRIGHT_VERIFY=1)
endif()

set(TILEWRIGHT_SANITIZE "" CACHE STRING "Sanitizers for everything, such as address,undefined")
if(TILEWRIGHT_SANITIZE)
  add_compile_options(-fsanitize=${TILEWRIGHT_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TILEWRIGHT_SANITIZE})
  # libstdc++'s atomic_thread_fence is not modelled by the thread sanitizer; we know where it is.
  if(TILEWRIGHT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)
  endif()
endif()

option(TILEWRIGHT_FUZZ "Build the fuzz targets (clang only)" OFF)
if(TILEWRIGHT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TILEWRIGHT_FUZZ needs clang; use the preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
endif()
