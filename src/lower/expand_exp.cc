#include "lower/expand_exp.h"

#include <span>

#include "lower/expand_arithmetic.h"

namespace tilewright::lower {
namespace {

using ir::Expr;

struct ExpConstants {
  double low, high;  // beyond these the result is 0 or infinity
  double ln2_high, ln2_low;
  std::span<const double> coefficients;
};

constexpr double kCoefficientsF32[] = {1.0,           0x1.ffffeep-1, 0x1.fffdc2p-2,
                                       0x1.555d44p-3, 0x1.573b8ep-5, 0x1.0eba3cp-7};
constexpr double kCoefficientsF64[] = {1.0,
                                       1.0,
                                       0x1.0000000000007p-1,
                                       0x1.55555555554d2p-3,
                                       0x1.5555555551122p-5,
                                       0x1.1111111130979p-7,
                                       0x1.6c16c182b5c73p-10,
                                       0x1.a01a00feffda3p-13,
                                       0x1.a0199d419e9d1p-16,
                                       0x1.71df7e2b53a5bp-19,
                                       0x1.28aaf2f858231p-22,
                                       0x1.acfceb2f814cep-26};

constexpr double kLog2E = 0x1.71547652b82fep0;
constexpr ExpConstants kF32 = {-104.0, 89.0, 0x1.63p-1, -0x1.bd0105c610ca8p-13, kCoefficientsF32};
constexpr ExpConstants kF64 = {-746.0, 710.0, 0x1.62e42feep-1, 0x1.a39ef35793c76p-33,
                               kCoefficientsF64};

const ExpConstants& constants_of(ir::Type type) { return is_f32(type) ? kF32 : kF64; }

}  // namespace

Expr expand_exp(const Expr& x, Bindings& bindings) {
  const ExpConstants& k = constants_of(x.type());
  const Expr raised = bindings.bind("exp_c", at_least(bindings.bind("exp_x", x), k.low));
  return expand_clamped_exp(bindings.bind("exp_c", at_most(raised, k.high)), bindings);
}

Expr expand_clamped_exp(const Expr& c, Bindings& bindings) {
  const ExpConstants& k = constants_of(c.type());
  const auto number = [&](double value) { return ir::float_imm(value, c.type()); };
  const Expr n = bindings.bind("exp_n", round_product(c, kLog2E));
  const Expr r =
      bindings.bind("exp_r", ir::fma(n, number(-k.ln2_low), ir::fma(n, number(-k.ln2_high), c)));
  return ir::call(ir::Intrinsic::Ldexp, {horner(k.coefficients, r), n});
}

double lowest_exp_argument(ir::Type type) { return constants_of(type).low; }

}  // namespace tilewright::lower
