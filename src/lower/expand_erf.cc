#include "lower/expand_erf.h"

#include <span>

#include "lower/expand_arithmetic.h"
#include "lower/expand_exp.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Intrinsic;

struct Coefficients {
  double near, far;  // coefficients of p and of q
};

struct ErfConstants {
  double threshold, limit;
  std::span<const Coefficients> coefficients;
};

constexpr Coefficients kCoefficientsF32[] = {
    {0x1.06eba6p-3, -0x1.1ca6f0p-9}, {-0x1.8126e4p-2, -0x1.1e809cp+0},
    {0x1.ce1992p-4, -0x1.4dec84p-1}, {-0x1.b677a0p-6, -0x1.7133e2p-4},
    {0x1.46a868p-8, 0x1.f4044ap-7},  {-0x1.376324p-11, -0x1.3d57b2p-10},
};
constexpr Coefficients kCoefficientsF64[] = {
    {0x1.06eba8214db69p-3, -0x1.2267230fb220cp-20},
    {-0x1.812746b037a2ap-2, -0x1.20dcc2ddaf733p+0},
    {0x1.ce2f21a045f08p-4, -0x1.45f961c32097dp-1},
    {-0x1.b82ce313775dap-6, -0x1.a4659076b5873p-4},
    {0x1.565bcd321f08ap-8, 0x1.350a7e2153793p-6},
    {-0x1.c02dba489b043p-11, 0x1.343b4063acaf3p-11},
    {0x1.f9a3d9f078442p-14, -0x1.1392ab1130898p-9},
    {-0x1.f4df6fa24eca8p-17, 0x1.e3bc257195daep-11},
    {0x1.ba8961659bb17p-20, -0x1.e6f2b429418d3p-13},
    {-0x1.64a3bbc559a61p-23, 0x1.e1458e29e44f4p-16},
    {0x1.18e7ec6d583a1p-26, 0x1.c4d24ab87f433p-19},
    {-0x1.e85c733a618eap-30, -0x1.5e5955414f770p-19},
    {0x1.6ba0386d11fe0p-33, 0x1.6a8c322e8f521p-21},
    {0, -0x1.c91424bfd2d96p-24},
    {0, 0x1.7083617d1f4e4p-27},
    {0, -0x1.6064950336af7p-31},
    {0, 0x1.321fe09a74fd1p-36},
};

constexpr ErfConstants kF32 = {0.94, 3.95, kCoefficientsF32};
constexpr ErfConstants kF64 = {1.0, 5.95, kCoefficientsF64};

}  // namespace

Expr expand_erf(const Expr& x, Bindings& bindings) {
  const ir::Type type = x.type();
  const ErfConstants& k = is_f32(type) ? kF32 : kF64;
  const auto number = [&](double value) { return ir::float_imm(value, type); };
  const Expr given = bindings.bind("erf_x", x);
  const Expr a = bindings.bind("erf_a", ir::call(Intrinsic::Abs, {given}));
  const Expr is_near = bindings.bind("erf_near", a < number(k.threshold));
  const Expr u = bindings.bind("erf_u", ir::select(is_near, a * a, at_most(a, k.limit)));
  const auto coefficient = [&](const Coefficients& c) {
    return ir::select(is_near, number(c.near), number(c.far));
  };
  Expr sum = coefficient(k.coefficients.back());
  for (size_t power = k.coefficients.size() - 1; power-- > 0;) {
    sum = ir::fma(std::move(sum), u, coefficient(k.coefficients[power]));
  }
  const Expr p = bindings.bind("erf_p", std::move(sum));
  const Expr far = number(1) - expand_clamped_exp(p, bindings);
  return with_sign_of(ir::select(is_near, ir::fma(p, a, a), far), given);
}

}  // namespace tilewright::lower
