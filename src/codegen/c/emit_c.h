// emit_c: loop IR -> C source: one `.c` and one `.h` without further dependencies, in C11 with the
// vector types of GCC and Clang.
//
//   kernel(A: f32[64], out B: f32[64]):     int32_t tilewright_kernel(const TilewrightCall* call);
//     for i < 4: B[ramp(i * 16, 1, 16)]       ... for (int64_t i = 0; i < 4; ++i) {
//       = A[ramp(i * 16, 1, 16)] * x16(2.0)         tw_store_f32x16(B + i * 16, ...);
//
// The kernels follow runtime/abi/kernel_abi.h, which the header repeats. They compute the same bits
// as the interpreter and the LLVM back end under all flags except -ffast-math. Parallel loops call
// tilewright_parallel_for; the source has a weak definition that runs them serially, for programs
// without a thread pool.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "target/target.h"

namespace tilewright::codegen {

struct CKernelInfo {
  std::string symbol;            // unique within the source
  int64_t shared_workspace = 0;  // bytes, for all threads; also a constant in the header
  int64_t thread_workspace = 0;  // additional bytes per worker
};

struct CSource {
  std::string source;
  std::string header;
  std::vector<CKernelInfo> kernels;  // one per function, in order
};

struct COptions {
  std::string header_name = "kernels.h";  // name used in the #include
  bool pool = true;  // define a weak tilewright_parallel_for if a loop needs one
};

Result<CSource> emit_c(std::span<const ir::Function> functions, const Target& target,
                       const COptions& options = {});

// The compiler flags that enable the instructions of the target: -mavx2 -mfma ...
std::vector<std::string> c_target_flags(const Target& target);

// A C string literal over several lines, which the preprocessor assembles: the names of all CPU
// features that the C compiler may use, as spelled in targets, each followed by a comma.
std::string c_enabled_features();

}  // namespace tilewright::codegen
