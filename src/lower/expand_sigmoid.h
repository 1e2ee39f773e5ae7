// Expands sigmoid(x) = 1 / (1 + exp(-x)), with an error of at most 3.71 ulp in f32. Stable at both
// ends: e cannot overflow, and a tiny result is e itself, denormals included.
//
//   e = exp(-|x|)
//   sigmoid(x) = select(x < 0, e, 1) / (1 + e)
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

ir::Expr expand_sigmoid(const ir::Expr& x, Bindings& bindings);

}  // namespace tilewright::lower
