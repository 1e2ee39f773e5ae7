// Expands erf(x), with an error of at most 1.6 ulp in f32, also near 0. With a = |x|:
//
//   erf(a) = a + a * p(a^2)            below the threshold
//   erf(a) = 1 - exp(q(a))             above; q(a) = log(1 - erf(a)), which is nearly a parabola
//
// p and q are minimax polynomials weighted by the ulp of the result. They have the same length (p
// is padded with zeros), so that each lane selects its argument and coefficients and one Horner
// scheme serves both. At the limit to which a is clamped, the result is 1.
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

ir::Expr expand_erf(const ir::Expr& x, Bindings& bindings);

}  // namespace tilewright::lower
