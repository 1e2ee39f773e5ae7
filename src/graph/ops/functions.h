// Functions that ir lacks, written with those it has. Errors are one or two ulp in f32, somewhat
// more in f64, for arguments up to about 10^4. `x` is f32 or f64.
//
//   sin, cos    x = k pi + r with pi in three parts (Cody and Waite), |r| <= pi/2, and the series
//   of
//               sin r; cos the same with k + 1/2
//   atan        of z in [0, 1]: 1/z beyond 1; pi/4 + atan((z - 1) / (z + 1)) beyond tan(pi/8)
//   asin, acos  the series of asin y for y up to 1/2; beyond, y = sqrt((1 - |x|) / 2)
//   log1p       log(1 + u), u >= 0: 2 atanh(u / (2 + u)) by its series where u is small
#pragma once

#include "ir/expr.h"

namespace tilewright::graph {

ir::Expr sin_of(const ir::Expr& x);
ir::Expr cos_of(const ir::Expr& x);
ir::Expr tan_of(const ir::Expr& x);
ir::Expr asin_of(const ir::Expr& x);
ir::Expr acos_of(const ir::Expr& x);
ir::Expr atan_of(const ir::Expr& x);
ir::Expr sinh_of(const ir::Expr& x);
ir::Expr cosh_of(const ir::Expr& x);
ir::Expr asinh_of(const ir::Expr& x);
ir::Expr acosh_of(const ir::Expr& x);
ir::Expr atanh_of(const ir::Expr& x);
ir::Expr softplus_of(const ir::Expr& x);  // log(1 + exp(x))
ir::Expr mish_of(const ir::Expr& x);      // x tanh(softplus(x))
ir::Expr gelu_of(const ir::Expr& x);      // x Phi(x) with the normal distribution Phi
ir::Expr gelu_tanh_of(const ir::Expr& x);
ir::Expr ceil_of(const ir::Expr& x);
ir::Expr sign_of(const ir::Expr& x);  // of floats and integers; NaN and zeros are unchanged

}  // namespace tilewright::graph
