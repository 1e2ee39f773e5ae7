// Gather: elements by index; and one_hot, its inverse.
//
//   gather:shape=10x4,axis=0,indices=3x2    X[10, 4] I[3, 2] -> Y[i, j, k] = X[I[i, j], k]
//   one_hot:shape=3x2,depth=10              I[3, 2] -> Y[i, j, k] = k == I[i, j] ? on : off
//
// A negative index counts from the end. gather clamps an index that is still out of range, so no
// read is out of bounds; one_hot has no `on` element for it. I is i64 or i32. The dimensions of I
// replace dimension `axis` of X; one_hot inserts its new dimension at `axis`. One stage `Y`, axes
// i, j, k, l, p, q by dimension. Any dtype.
#pragma once

#include <memory>
#include <span>

#include "te/ops/operator.h"

namespace tilewright::te {

// Fails if the axis does not exist, Y has too many dimensions, or `index` is neither I32 nor I64.
Result<std::shared_ptr<const Dag>> gather(std::span<const int64_t> shape, int64_t axis,
                                          std::span<const int64_t> indices,
                                          ir::Scalar element = ir::Scalar::F32,
                                          ir::Scalar index = ir::Scalar::I64);

struct OneHotShape {
  std::vector<int64_t> shape;  // of I
  int64_t depth = 1;
  int64_t axis = -1;  // of Y
  double on = 1, off = 0;
  ir::Scalar element = ir::Scalar::F32;
  ir::Scalar index = ir::Scalar::I64;
};
Result<std::shared_ptr<const Dag>> one_hot(const OneHotShape& shape);

Operator gather_operator();
Operator one_hot_operator();

}  // namespace tilewright::te
