// Expands tanh(x), with an error of at most 3.33 ulp in f32, also near 0, where tanh(x) = x. With a
// = |x|, through exp(2 a) - 1:
//
//   n = round(2 a / ln 2)
//   h = a - n * (ln 2 / 2)             half the reduced argument, |h| <= ln 2 / 4
//   t = 2^n * (exp(2 h) - 1) + (2^n - 1) = exp(2 a) - 1
//   tanh(a) = t / (t + 2)
//
// exp(2 h) - 1 = h * q(h), where q is a minimax polynomial for the relative error, of degree 5
// (f32) or 11 (f64), with q(0) fixed at 2. At the limit to which a is clamped, t + 2 rounds to t,
// and the result is 1.
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

ir::Expr expand_tanh(const ir::Expr& x, Bindings& bindings);

}  // namespace tilewright::lower
