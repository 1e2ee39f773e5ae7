// Decomposes a positive float into 2^exponent * mantissa with the mantissa in [sqrt(1/2), sqrt(2)),
// so that its logarithm is small and the two never cancel: 0.75 = 2^0 * 0.75, 24 = 2^5 * 0.75.
// Denormals are scaled to normal numbers first. The result for zeros, negatives, infinities and NaN
// is finite or NaN; the caller replaces it.
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

struct Frexp {
  ir::Expr exponent;  // integral, with the type of x
  ir::Expr mantissa;
};

Frexp expand_frexp(const ir::Expr& x, Bindings& bindings);  // x is a variable; so are both results

}  // namespace tilewright::lower
