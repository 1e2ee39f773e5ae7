// Expands log(x), the natural logarithm, with an error of at most 0.84 ulp in f32. -infinity for
// zeros, NaN for negative numbers; infinity and NaN are unchanged. After fdlibm's e_log.c (Sun,
// 1993):
//
//   x = 2^e * (1 + f)                  sqrt(1/2) <= 1 + f < sqrt(2)
//   s = f / (2 + f), z = s^2           log(1 + f) = 2 s + 2/3 s^3 + 2/5 s^5 + ...
//   h = f^2 / 2                        = f - h + s * (h + z * p(z)), where f - h is nearly exact
//   log(x) = e * ln 2 + log(1 + f)     in two parts of ln 2
//
// p: minimax of 3 (f32) or 7 (f64) terms.
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

ir::Expr expand_log(const ir::Expr& x, Bindings& bindings);

}  // namespace tilewright::lower
