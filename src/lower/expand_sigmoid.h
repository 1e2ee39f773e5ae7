// sigmoid(x) = 1 / (1 + exp(-x)) in arithmetic, at most 3.71 ulp off in f32 and stable at both
// ends: e cannot overflow, and where the result is tiny it is e itself, denormals included.
//
//   e = exp(-|x|)
//   sigmoid(x) = select(x < 0, e, 1) / (1 + e)
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

ir::Expr expand_sigmoid(const ir::Expr& x, Bindings& bindings);

}  // namespace tilewright::lower
