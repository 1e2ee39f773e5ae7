# Finds all third-party packages. tools/layers.txt lists the folders that may use each; ./dev installs
# them.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)            # shared; anywhere
find_package(nlohmann_json REQUIRED)  # behind base/json.h
find_package(CLI11 REQUIRED)          # cli
find_package(SQLite3 REQUIRED)        # record
find_package(simdjson REQUIRED)       # record
find_package(Protobuf REQUIRED)       # onnx
find_package(GTest REQUIRED)          # tests
find_package(benchmark REQUIRED)      # bench

# LLVM as one shared library, for codegen/llvm: link `tilewright_llvm_sdk`.
find_package(LLVM 19.1 CONFIG REQUIRED HINTS /usr/lib/llvm-19)
add_library(tilewright_llvm_sdk INTERFACE)
target_include_directories(tilewright_llvm_sdk SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
# LLVM_DEFINITIONS are macros for C++ before 2011; without them, LLVM's users share precompiled headers.
target_link_libraries(tilewright_llvm_sdk INTERFACE LLVM)

# LLVM's linker, for codegen/llvm: link `tilewright_lld`. Static; the rest of LLVM is the library
# above.
find_path(LLD_INCLUDE_DIR lld/Common/Driver.h HINTS ${LLVM_INCLUDE_DIRS})
find_library(LLD_ELF_LIBRARY lldELF HINTS ${LLVM_LIBRARY_DIRS})
find_library(LLD_COMMON_LIBRARY lldCommon HINTS ${LLVM_LIBRARY_DIRS})
find_library(ZSTD_LIBRARY zstd)
find_package(ZLIB REQUIRED)
if(NOT LLD_INCLUDE_DIR OR NOT LLD_ELF_LIBRARY OR NOT LLD_COMMON_LIBRARY OR NOT ZSTD_LIBRARY)
  message(FATAL_ERROR "LLD was not found (lld/Common/Driver.h, liblldELF, liblldCommon, libzstd); "
                      "./dev installs it: apt-get install liblld-19-dev")
endif()
add_library(tilewright_lld INTERFACE)
target_include_directories(tilewright_lld SYSTEM INTERFACE ${LLD_INCLUDE_DIR})
target_link_libraries(tilewright_lld INTERFACE ${LLD_ELF_LIBRARY} ${LLD_COMMON_LIBRARY}
                      tilewright_llvm_sdk ZLIB::ZLIB ${ZSTD_LIBRARY})

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
