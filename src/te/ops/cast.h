// Elements in another type, by the rules of ir/type.h: floats are rounded to nearest even, a float
// to an integer truncates and saturates, an integer to a narrower one keeps the low bits, anything
// to bool is x != 0.
//
//   cast:shape=64x128,from=f32,to=i8    X[64, 128] -> Y[64, 128]
//
// One stage `Y`, axes i, j, k, ... by dimension.
#pragma once

#include <memory>
#include <span>

#include "te/ops/operator.h"

namespace tilewright::te {

Result<std::shared_ptr<const Dag>> cast(std::span<const int64_t> shape, ir::Scalar from,
                                        ir::Scalar to);

Operator cast_operator();

}  // namespace tilewright::te
