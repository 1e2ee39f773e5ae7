# Every third-party package, found in one place. Which folder may use which is in
# tools/layers.txt; ./dev installs them.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)            # shared; anywhere
find_package(spdlog REQUIRED)         # anywhere
find_package(nlohmann_json REQUIRED)  # behind base/json.h
find_package(CLI11 REQUIRED)          # cli
find_package(SQLite3 REQUIRED)        # record
find_package(simdjson REQUIRED)       # record
find_package(GTest REQUIRED)          # tests
find_package(benchmark REQUIRED)      # bench

# LLVM as one shared library, for codegen/llvm: link `tilewright_llvm_sdk`.
find_package(LLVM 19.1 CONFIG REQUIRED HINTS /usr/lib/llvm-19)
add_library(tilewright_llvm_sdk INTERFACE)
target_include_directories(tilewright_llvm_sdk SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions UNIX_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(tilewright_llvm_sdk INTERFACE ${llvm_definitions})
target_link_libraries(tilewright_llvm_sdk INTERFACE LLVM)

# XGBoost's C interface, for cost: link `tilewright_xgboost`. Debian has no package file for CMake.
find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h)
find_library(XGBOOST_LIBRARY xgboost)
if(NOT XGBOOST_INCLUDE_DIR OR NOT XGBOOST_LIBRARY)
  message(FATAL_ERROR "XGBoost was not found (xgboost/c_api.h, libxgboost); "
                      "./dev installs it: apt-get install libxgboost-dev")
endif()
add_library(tilewright_xgboost INTERFACE)
target_include_directories(tilewright_xgboost SYSTEM INTERFACE ${XGBOOST_INCLUDE_DIR})
target_link_libraries(tilewright_xgboost INTERFACE ${XGBOOST_LIBRARY})
