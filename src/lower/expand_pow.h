// Expands pow(x, y), with an error of about 1 ulp, with the special cases of IEEE 754: pow(x, 0) =
// 1 and pow(1, y) = 1 for any other argument; a negative x requires an integral y, and an odd y
// keeps the sign. A constant exponent of 2 or 3 becomes one or two multiplications.
//
//   |x| = 2^e * m                      sqrt(1/2) <= m < sqrt(2)
//   s = (m - 1) / (m + 1), z = s^2
//   log2 |x| = e + s * (2 / ln 2 + z * (2 / (3 ln 2) + z * t(z)))
//   n = round(y * log2 |x|)
//   |pow(x, y)| = ldexp(p(y * log2 |x| - n), n)
//
// A relative error of the logarithm is multiplied by its product with y, which may be 1,000.
// Therefore all but t uses double-word arithmetic, where a value is the unevaluated sum of two
// floats (Joldes, Muller, Popescu: Tight and rigorous error bounds for basic building blocks of
// double-word arithmetic, 2017; Dekker, 1971). Minimax polynomials: t of 3 (f32) or 7 (f64) terms;
// p, which is 2^f on [-1/2, 1/2], of degree 6 or 11.
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

ir::Expr expand_pow(const ir::Expr& x, const ir::Expr& y, Bindings& bindings);

}  // namespace tilewright::lower
