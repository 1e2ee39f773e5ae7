// Shared by the expansions of functions: constants, clamps, signs and polynomials, on floats of any
// number of lanes. The caller has bound expressions that are used more than once.
#pragma once

#include <span>

#include "ir/expr.h"
#include "lower/bindings.h"

namespace tilewright::lower {

// True: uses the constants of f32; false: those of f64. Other types have no expansions, because f16
// and bf16 are cast to f32 before arithmetic.
bool is_f32(ir::Type type);

// The integer type of the same size and lanes: i32x16 for f32x16.
ir::Type bits_type(ir::Type type);

// Passes NaN through, and is one instruction on x86 (min or max):
//   at_most(x, high) = select(high < x, high, x)     at_least(x, low) = select(low > x, low, x)
ir::Expr at_most(const ir::Expr& x, double high);
ir::Expr at_least(const ir::Expr& x, double low);

// The nonnegative `magnitude` with the sign bit of `sign`.
ir::Expr with_sign_of(const ir::Expr& magnitude, const ir::Expr& sign);

// The nearest integral value if |x| < 2^22 (f32) or 2^51 (f64), by adding and subtracting 1.5 *
// 2^(mantissa bits) in the single rounding of the fma: round(x * factor)
ir::Expr round_product(const ir::Expr& x, double factor);

// c[0] + c[1] * x + c[2] * x^2 + ..., by Horner's rule: one fma per power.
ir::Expr horner(std::span<const double> coefficients, const ir::Expr& x);

}  // namespace tilewright::lower
