#include "lower/expand_tanh.h"

#include <span>

#include "lower/expand_arithmetic.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Intrinsic;

struct TanhConstants {
  double limit;
  std::span<const double> coefficients;
};

constexpr double kCoefficientsF32[] = {2.0,           0x1.fffffep+0, 0x1.5554b6p+0,
                                       0x1.5556c0p-1, 0x1.122d08p-2, 0x1.6c0270p-4};
constexpr double kCoefficientsF64[] = {
    2.0,
    2.0,
    0x1.5555555555559p+0,
    0x1.5555555555558p-1,
    0x1.111111110f6ffp-2,
    0x1.6c16c16c17692p-4,
    0x1.a01a01afc7964p-6,
    0x1.a01a019bfd630p-8,
    0x1.71ddf81bf6349p-10,
    0x1.27e5039741235p-12,
    0x1.af601eda0b867p-15,
    0x1.1f0be7eae3fa0p-17,
};

constexpr double kTwoLog2E = 0x1.71547652b82fep1;
constexpr double kHalfLn2 = 0x1.62e42fefa39efp-2;
constexpr TanhConstants kF32 = {10.0, kCoefficientsF32};
constexpr TanhConstants kF64 = {20.0, kCoefficientsF64};

}  // namespace

Expr expand_tanh(const Expr& x, Bindings& bindings) {
  const ir::Type type = x.type();
  const TanhConstants& k = is_f32(type) ? kF32 : kF64;
  const auto number = [&](double value) { return ir::float_imm(value, type); };
  const Expr given = bindings.bind("tanh_x", x);
  const Expr magnitude = bindings.bind("tanh_a", ir::call(Intrinsic::Abs, {given}));
  const Expr a = bindings.bind("tanh_a", at_most(magnitude, k.limit));
  const Expr n = bindings.bind("tanh_n", round_product(a, kTwoLog2E));
  const Expr h = bindings.bind("tanh_h", ir::fma(n, number(-kHalfLn2), a));
  const Expr power = bindings.bind("tanh_power", ir::call(Intrinsic::Ldexp, {number(1), n}));
  const Expr t =
      bindings.bind("tanh_t", ir::fma(power, h * horner(k.coefficients, h), power - number(1)));
  return with_sign_of(t / (t + number(2)), given);
}

}  // namespace tilewright::lower
