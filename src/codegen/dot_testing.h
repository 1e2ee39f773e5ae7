// For tests of back ends: programs with dot products, some written by hand, others as `lower`
// generates them from tensorized operators, with arguments of random bits or of numbers that are
// never rounded.
#pragma once

#include <vector>

#include "codegen/bytes_testing.h"
#include "ir/stmt.h"

namespace tilewright::codegen {

struct DotProgram {
  ir::Function function;
  std::vector<Bytes> arguments;
};

// `sum`: I32 (of U8 and I8) or F32 (of BF16).
std::vector<DotProgram> dot_programs(ir::Scalar sum);

// A matrix product C = A B, 5 x 40 with sums of 26 products, from rows of A and B in the order of
// the operator: the tiles of its schedule leave tails in every dimension.
DotProgram dot_matmul(ir::Scalar sum);
inline constexpr int64_t kDotRows = 5, kDotColumns = 40, kDotDepth = 26;

}  // namespace tilewright::codegen
