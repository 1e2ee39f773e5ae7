// erf(x) in arithmetic, at most 1.6 ulp off in f32, also near 0. With a = |x|:
//
//   erf(a) = a + a * p(a^2)            below the threshold
//   erf(a) = 1 - exp(q(a))             above; q(a) = log(1 - erf(a)), which is nearly a parabola
//
// p and q are minimax polynomials weighted by the ulp of the result. They have one length (p is
// padded with zeros), so that each lane picks its argument and coefficients and one Horner scheme
// serves both. At the limit that a is clamped to, the result is 1.
#pragma once

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

ir::Expr expand_erf(const ir::Expr& x, Bindings& bindings);

}  // namespace tilewright::lower
