// exp(x) in arithmetic, for f32 and f64, any number of lanes. Less than one ulp from the true
// value over the whole range (f32: 0.91 over all arguments); overflow gives infinity, underflow
// denormals and then 0, NaN stays NaN.
//
//   c = clamp(x)                      so that n stays small; 2^n * p is then 0 or infinity
//   n = round(c / ln 2)               by adding and subtracting 1.5 * 2^(mantissa bits)
//   r = c - n * ln 2                  in two parts of ln 2, |r| <= ln 2 / 2
//   exp(x) = ldexp(p(r), n)           p: minimax of degree 6 (f32) or 11 (f64), 1 + r + r^2 * ...
//
// Thirteen operations in f32. Minimax coefficients by Remez' algorithm on [-ln 2 / 2, ln 2 / 2],
// weighted by the ulp of the result, with the first two coefficients held at 1.
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

// c, n and r are used several times and so are bound.
ir::Expr expand_exp(const ir::Expr& x, Bindings& bindings);

}  // namespace tilewright::lower
