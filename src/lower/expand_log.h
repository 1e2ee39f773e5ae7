// log(x), the natural logarithm, in arithmetic, at most 0.84 ulp off in f32. -infinity at the
// zeros, NaN below them; infinity and NaN stay what they are. After fdlibm's e_log.c (Sun, 1993):
//
//   x = 2^e * (1 + f)                  sqrt(1/2) <= 1 + f < sqrt(2)
//   s = f / (2 + f), z = s^2           log(1 + f) = 2 s + 2/3 s^3 + 2/5 s^5 + ...
//   h = f^2 / 2                        = f - h + s * (h + z * p(z)), where f - h is all but exact
//   log(x) = e * ln 2 + log(1 + f)     in two parts of ln 2
//
// p: minimax of 3 (f32) or 7 (f64) terms.
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

ir::Expr expand_log(const ir::Expr& x, Bindings& bindings);

}  // namespace tilewright::lower
