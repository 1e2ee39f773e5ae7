// Binary operations on tensors of different shapes, with NumPy's broadcasting: shapes are aligned
// at the last dimension, and a dimension that is missing or 1 is repeated.
//
//   binary:op=add,a=4x1x6,b=5x1    Y[i, j, k] = A[i, 0, k] + B[j, 0], of 4 x 5 x 6
//   broadcast:shape=5x1,to=4x5x6   Y[i, j, k] = X[j, 0]
//
//   add sub mul div max min     of the type of the operands; div of integers rounds down
//   mod                         integers only: the remainder of that division
//   pow                         floats only
//   equal not_equal less less_equal greater greater_equal    give bool
//   and or                      of bool
//
// Integer division by zero is an error of the program. One stage `Y`, axes i, j, k, ... by
// dimension.
#pragma once

#include <memory>
#include <span>

#include "te/ops/operator.h"

namespace tilewright::te {

// Both fail if the shapes do not broadcast, and `binary` if the type does not have the operation.
Result<std::shared_ptr<const Dag>> binary(std::string_view op, std::span<const int64_t> a,
                                          std::span<const int64_t> b,
                                          ir::Scalar element = ir::Scalar::F32);
Result<std::shared_ptr<const Dag>> broadcast(std::span<const int64_t> shape,
                                             std::span<const int64_t> to,
                                             ir::Scalar element = ir::Scalar::F32);

Operator binary_operator();
Operator broadcast_operator();

}  // namespace tilewright::te
