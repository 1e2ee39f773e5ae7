// Strided slices: every step-th element from `begin` on, along each dimension.
//
//   slice:shape=8x9,begin=0x8,size=4x9,step=2x-1    Y[i, j] = X[2 i, 8 - j]
//
// A single number in begin or step applies to every dimension. The slice must be within X. One
// stage `Y`, axes i, j, k, ... by dimension. Any dtype.
#pragma once

#include <memory>
#include <vector>

#include "te/ops/operator.h"

namespace tilewright::te {

struct SliceShape {
  std::vector<int64_t> shape;
  std::vector<int64_t> begin, size, step;  // one per dimension; a step may be negative, not 0
  ir::Scalar element = ir::Scalar::F32;
};

// Fails if the slice is out of bounds.
Result<std::shared_ptr<const Dag>> slice(const SliceShape& shape);

Operator slice_operator();

}  // namespace tilewright::te
