// Chains of elementwise operations, one stage per operation.
//
//   elementwise:shape=64x128,chain=relu+scale(0.5)+add
//   X -> T1 = max(X, 0) -> T2 = T1 * 0.5 -> Y = T2 + B3
//
// Link k (from 1) defines stage `Tk`, the last one `Y`; a link with a second operand reads the
// placeholder `Bk`, of the whole shape, or of the last extent only for bias. Axes are i, j, k, l,
// p, q by dimension. Intermediate values of f16 and bf16 are f32.
//
//   with a second operand   add sub mul div max min bias
//   with a number           scale(c) shift(c) atleast(c) atmost(c)    c defaults to 2, 1, 0, 6;
//                           floats only: pow(c) leaky(c)              c defaults to 2, 0.01
//   plain                   relu neg abs square; floats only: sqrt rsqrt exp log tanh erf sigmoid
//                           floor round gelu silu hard_swish
#pragma once

#include <memory>
#include <span>

#include "te/ops/operator.h"

namespace tilewright::te {

Result<std::shared_ptr<const Dag>> elementwise(std::span<const int64_t> shape,
                                               std::string_view chain,
                                               ir::Scalar element = ir::Scalar::F32);

Operator elementwise_operator();

}  // namespace tilewright::te
