// Expands rsqrt(x) = 1 / sqrt(x): two correctly rounded operations, so the error is at most 1.5
// ulp. Infinity of the same sign for zeros, 0 for infinity, NaN for negative numbers.
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

ir::Expr expand_rsqrt(const ir::Expr& x, Bindings& bindings);

}  // namespace tilewright::lower
