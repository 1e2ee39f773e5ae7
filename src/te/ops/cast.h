// Conversion to another element type, by the rules of ir/type.h: floats round to nearest even,
// float to integer truncates and saturates, integer to narrower integer keeps the low bits, and
// bool is x != 0.
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
