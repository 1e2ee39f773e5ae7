# The four kinds of target. Source lists are explicit; includes are relative to src/.

# tilewright_library(NAME SOURCES a.cc... DEPS t... [PRIVATE_DEPS t...])
# A static library. DEPS are public dependencies, PRIVATE_DEPS private ones. Without sources it is a
# header-only library.
function(tilewright_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS;PRIVATE_DEPS")
  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES})
    target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${name} PUBLIC ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS})
    tilewright_use_precompiled(${name} library)
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${name} INTERFACE ${arg_DEPS} ${arg_PRIVATE_DEPS})
  endif()
endfunction()

# tilewright_time_limit(SECONDS TEST...)
# Ends the CTest entries after that many seconds, and later with a sanitizer. Programs that they start have
# the factor as TILEWRIGHT_TEST_SLOWDOWN.
function(tilewright_time_limit seconds)
  math(EXPR limit "${seconds} * ${TILEWRIGHT_TEST_SLOWDOWN}")
  set_tests_properties(${ARGN} PROPERTIES TIMEOUT ${limit})
  set_property(TEST ${ARGN} APPEND PROPERTY
    ENVIRONMENT "TILEWRIGHT_TEST_SLOWDOWN=${TILEWRIGHT_TEST_SLOWDOWN}")
endfunction()

# tilewright_test(NAME SOURCES a_test.cc... DEPS t... [SHARDS n] [LABELS l...] [TIMEOUT seconds])
# One GoogleTest executable, one CTest entry: starting a program that loads LLVM costs more than
# most tests do. For long tests, SHARDS n makes n entries, each of which runs a part of them.
# `TILEWRIGHT_SOURCE_DIR` is defined as the root of the sources, for golden files.
function(tilewright_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SHARDS;TIMEOUT" "SOURCES;DEPS;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE "TILEWRIGHT_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gtest_main GTest::gmock Threads::Threads)
  tilewright_use_precompiled(${name} test)
  if(arg_SHARDS GREATER 1)
    math(EXPR last "${arg_SHARDS} - 1")
    foreach(shard RANGE ${last})
      add_test(NAME ${name}.${shard} COMMAND ${name} --gtest_brief=1)
      set_tests_properties(${name}.${shard} PROPERTIES
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard}"
        LABELS "${arg_LABELS}")
      tilewright_time_limit(${arg_TIMEOUT} ${name}.${shard})
    endforeach()
  else()
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
    tilewright_time_limit(${arg_TIMEOUT} ${name})
  endif()
endfunction()

# tilewright_benchmark(NAME SOURCES x.cc... DEPS t...)
# An executable for `./dev bench`; bench/main.cc has its main. Named bench_<name> by convention.
function(tilewright_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  add_executable(${name} ${arg_SOURCES} "${PROJECT_SOURCE_DIR}/bench/main.cc")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE "TILEWRIGHT_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
  target_link_libraries(${name} PRIVATE ${arg_DEPS} Threads::Threads)
  tilewright_use_precompiled(${name} program)
  add_dependencies(tilewright_programs ${name})
endfunction()

# tilewright_fuzzer(NAME SOURCES x_fuzz.cc... DEPS t...)
# A libFuzzer executable and a CTest entry that runs it for 5 s, both under the preset fuzz only.
function(tilewright_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  if(NOT TILEWRIGHT_FUZZ)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  tilewright_use_precompiled(${name} program)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_test(NAME ${name} COMMAND ${name} -max_total_time=5 -seed=1)
endfunction()
