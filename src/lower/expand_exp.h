// Expands exp(x), with an error of at most 1.91 ulp in f32 and less than 1 ulp in f64. Overflow
// gives infinity, underflow denormals and then 0, NaN stays NaN, exp(0) is 1.
//
//   c = clamp(x)                      so that n stays small; 2^n * p is then 0 or infinity
//   n = round(c / ln 2)
//   r = c - n * ln 2                  in two parts of ln 2, |r| <= ln 2 / 2
//   exp(x) = ldexp(p(r), n)           p: minimax of degree 5 (f32) or 11 (f64)
//
// Twelve operations in f32. The minimax is weighted by the ulp of the result, with the constant
// term fixed at 1. Coefficients are rounded one after the other, lowest power first, and the others
// are fitted again each time.
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

// Binds c, n and r.
ir::Expr expand_exp(const ir::Expr& x, Bindings& bindings);

// The same without the clamps, for a variable that is NaN or between lowest_exp_argument and 1.
ir::Expr expand_clamped_exp(const ir::Expr& c, Bindings& bindings);
double lowest_exp_argument(ir::Type type);  // exp is 0 for this argument and below

}  // namespace tilewright::lower
