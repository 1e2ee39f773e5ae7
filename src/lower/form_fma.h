// Contracts products and sums of f32 and f64 to fma, if the permission `contract` is given.
//
//   a * b + c, c + a * b   ->   fma(a, b, c)
//   c - a * b              ->   fma(neg(a), b, c)
//   a * b - c              ->   fma(a, b, neg(c))
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void form_fma(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
