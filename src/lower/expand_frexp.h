// A positive float as 2^exponent * mantissa with the mantissa in [sqrt(1/2), sqrt(2)), so that its
// logarithm is small and the two never cancel: 0.75 = 2^0 * 0.75, 24 = 2^5 * 0.75. Denormals are
// scaled into the normal numbers first. What comes of zeros, negatives, infinities and NaN is
// finite or NaN, and for the caller to replace.
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

struct Frexp {
  ir::Expr exponent;  // integral, of the type of x
  ir::Expr mantissa;
};

Frexp expand_frexp(const ir::Expr& x, Bindings& bindings);  // x is a variable; so are both results

}  // namespace tilewright::lower
