// Concatenation of tensors along an axis.
//
//   concat:shape=4x10x6,axis=1,parts=3x5x2    X1[4, 3, 6] X2[4, 5, 6] X3[4, 2, 6] -> Y[4, 10, 6]
//
// One stage `Y`, axes i, j, k, ... by dimension. Any dtype.
#pragma once

#include <memory>
#include <span>

#include "te/ops/operator.h"

namespace tilewright::te {

// `shape` is the shape of the result; `parts` are the extents of the operands along `axis`. Fails
// if they do not add up.
Result<std::shared_ptr<const Dag>> concat(std::span<const int64_t> shape, int64_t axis,
                                          std::span<const int64_t> parts,
                                          ir::Scalar element = ir::Scalar::F32);

Operator concat_operator();

}  // namespace tilewright::te
