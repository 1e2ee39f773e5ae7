// For tests of back ends: programs with dot products, some by hand and others as `lower` makes them
// of tensorized operators, with arguments of random bits or of numbers that no sum rounds.
#pragma once

#include <vector>

#include "codegen/bytes_testing.h"
#include "ir/stmt.h"

namespace tilewright::codegen {

struct DotProgram {
  ir::Function function;
  std::vector<Bytes> arguments;
};

// Sums of `sum`: I32 (of U8 and I8) or F32 (of BF16).
std::vector<DotProgram> dot_programs(ir::Scalar sum);

// A product of matrices C = A B, 5 x 40 with sums of 26 products, from rows of A and B as the
// operator has them: the tiles of its schedule leave tails in every direction.
DotProgram dot_matmul(ir::Scalar sum);
inline constexpr int64_t kDotRows = 5, kDotColumns = 40, kDotDepth = 26;

}  // namespace tilewright::codegen
