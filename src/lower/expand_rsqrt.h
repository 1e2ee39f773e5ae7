// rsqrt(x) = 1 / sqrt(x): two correctly rounded operations, so at most 1.5 ulp; infinity of the
// same sign at the zeros, 0 at infinity, NaN below 0.
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

ir::Expr expand_rsqrt(const ir::Expr& x, Bindings& bindings);

}  // namespace tilewright::lower
