// What the expansions of functions share: constants, clamps, signs and polynomials, on floats of
// any number of lanes. Expressions that are used more than once have been bound by the caller.
#pragma once

#include <span>

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

// Whether a function is computed with the constants of f32, else with those of f64; no other type
// has expansions, as f16 and bf16 are cast to f32 before arithmetic.
bool is_f32(ir::Type type);

// The integer type of the same size and lanes: i32x16 for f32x16.
ir::Type bits_type(ir::Type type);

// NaN passes, and x86's min and max do it in one instruction:
//   at_most(x, high) = select(high < x, high, x)     at_least(x, low) = select(low > x, low, x)
ir::Expr at_most(const ir::Expr& x, double high);
ir::Expr at_least(const ir::Expr& x, double low);

// `magnitude`, which is not negative, with the sign bit of `sign`.
ir::Expr with_sign_of(const ir::Expr& magnitude, const ir::Expr& sign);

// The nearest integral value where |x| < 2^22 (f32) or 2^51 (f64), by adding and subtracting
// 1.5 * 2^(mantissa bits) in the one rounding of the fma:   round(x * factor)
ir::Expr round_product(const ir::Expr& x, double factor);

// c[0] + c[1] * x + c[2] * x^2 + ..., by Horner's rule: one fma a power.
ir::Expr horner(std::span<const double> coefficients, const ir::Expr& x);

}  // namespace tilewright::lower
