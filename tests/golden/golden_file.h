// The text of a golden file: a program written by hand, and the code generated from it.
//
//   == code generator 1
//   == target
//   x86-64-v4;threads=2
//   == operator
//   matmul:m=4,n=27,k=3
//   == trace
//   # What it shows, in a line.
//   split C j [16] tail=mask
//   == tree                          the LoopTree
//   == loop ir                       after the last pass
//   == llvm ir                       a hash of the module before LLVM's code generator
//
// Target, operator and trace are written by hand; a new file has these sections alone. The rest is
// generated. The version is that of src/codegen/version.h when the file was accepted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tilewright::testing {

struct GoldenFile {
  int64_t version = 0;  // 0: never accepted
  std::string target;
  std::string operator_text;
  std::string trace;
  std::string tree;
  std::string loop_ir;
  std::string llvm_ir;

  bool operator==(const GoldenFile&) const = default;
};

std::string to_text(const GoldenFile& file);
Result<GoldenFile> parse_golden_file(std::string_view text);

// The lines from the first to the last difference of two texts, truncated if there are many; empty
// for equal texts.
//
//   line 12:
//   - C.0[0] = C.0[0] + A[k]
//   + C.0[0] = fma(A[k], B[k], C.0[0])
std::string text_difference(std::string_view before, std::string_view after);

}  // namespace tilewright::testing
