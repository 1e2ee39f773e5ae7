// Transpose and reshape.
//
//   transpose:shape=2x3x4,perm=2x0x1    Y[i, j, k] = X[j, k, i], of 4 x 2 x 3
//   reshape:shape=6x4,to=2x3x2x2        Y[i, j, k, l] = X[3 i + j, 2 k + l]
//
// reshape keeps the row-major order. It divides only where necessary: groups of dimensions with the
// same number of elements on both sides are handled separately, as 6 = 2 * 3 and 4 = 2 * 2 above.
// One stage `Y`, axes i, j, k, ... by dimension. Any dtype.
#pragma once

#include <memory>
#include <span>

#include "te/ops/operator.h"

namespace tilewright::te {

// Dimension d of the result is dimension perm[d] of X. Fails unless perm is a permutation.
Result<std::shared_ptr<const Dag>> transpose(std::span<const int64_t> shape,
                                             std::span<const int64_t> perm,
                                             ir::Scalar element = ir::Scalar::F32);

// Fails unless both shapes have the same number of elements.
Result<std::shared_ptr<const Dag>> reshape(std::span<const int64_t> shape,
                                           std::span<const int64_t> to,
                                           ir::Scalar element = ir::Scalar::F32);

Operator transpose_operator();
Operator reshape_operator();

}  // namespace tilewright::te
