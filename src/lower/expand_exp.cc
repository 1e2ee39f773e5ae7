#include "lower/expand_exp.h"

#include <span>

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;

struct ExpConstants {
  double low, high;  // beyond these the result is 0 or infinity
  double log2e;
  double magic;  // adding it leaves an integer in the low bits of the mantissa
  double ln2_high, ln2_low;
  std::span<const double> coefficients;  // of r^2, r^3, ...
};

constexpr double kCoefficientsF32[] = {0.4999998998837443, 0.16666518976050618,
                                       0.041669090219740676, 0.008368882767414189,
                                       0.001378037765542564};
constexpr double kCoefficientsF64[] = {
    0x1.0000000000007p-1,  0x1.55555555554d2p-3,  0x1.5555555551122p-5,  0x1.1111111130979p-7,
    0x1.6c16c182b5c73p-10, 0x1.a01a00feffda3p-13, 0x1.a0199d419e9d1p-16, 0x1.71df7e2b53a5bp-19,
    0x1.28aaf2f858231p-22, 0x1.acfceb2f814cep-26};

constexpr ExpConstants kF32 = {
    -104.0, 89.0, 0x1.715476p0, 0x1.8p23, 0x1.63p-1, -0x1.bd0105c610ca8p-13, kCoefficientsF32};
constexpr ExpConstants kF64 = {-746.0,          710.0,           0x1.71547652b82fep0,
                               0x1.8p52,        0x1.62e42feep-1, 0x1.a39ef35793c76p-33,
                               kCoefficientsF64};

}  // namespace

Expr expand_exp(const Expr& x, Bindings& bindings) {
  const ir::Type type = x.type();
  CHECK(type.scalar == ir::Scalar::F32 || type.scalar == ir::Scalar::F64, "exp of {}",
        ir::to_string(type));
  const ExpConstants& k = type.scalar == ir::Scalar::F32 ? kF32 : kF64;
  const auto number = [&](double value) { return ir::float_imm(value, type); };

  // Compared this way round NaN passes, and x86's max and min do it in one instruction.
  const Expr low = number(k.low), high = number(k.high);
  const Expr given = bindings.bind("exp_x", x);
  const Expr raised =
      bindings.bind("exp_c", ir::select(ir::binary(BinaryOp::Gt, low, given), low, given));
  const Expr c = bindings.bind("exp_c", ir::select(high < raised, high, raised));

  const Expr n =
      bindings.bind("exp_n", ir::fma(c, number(k.log2e), number(k.magic)) - number(k.magic));
  const Expr r =
      bindings.bind("exp_r", ir::fma(n, number(-k.ln2_low), ir::fma(n, number(-k.ln2_high), c)));
  Expr p = number(k.coefficients.back());
  for (size_t power = k.coefficients.size() - 1; power-- > 0;) {
    p = ir::fma(std::move(p), r, number(k.coefficients[power]));
  }
  p = ir::fma(std::move(p), r, number(1));
  p = ir::fma(std::move(p), r, number(1));
  return ir::call(ir::Intrinsic::Ldexp, {std::move(p), n});
}

}  // namespace tilewright::lower
