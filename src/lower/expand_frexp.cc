#include "lower/expand_frexp.h"

#include "lower/expand_arithmetic.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;

struct Format {
  int mantissa_bits;
  double min_normal;
  double scale;          // scale of denormals: 2^(mantissa bits + 1)
  int64_t bits_of_half;  // sqrt(1/2), the smallest mantissa
};

constexpr Format kF32 = {23, 0x1p-126, 0x1p24, 0x3f3504f3};
constexpr Format kF64 = {52, 0x1p-1022, 0x1p53, 0x3fe6a09e667f3bcd};

}  // namespace

Frexp expand_frexp(const Expr& x, Bindings& bindings) {
  const ir::Type type = x.type(), bits = bits_type(type);
  const Format& format = is_f32(type) ? kF32 : kF64;
  const auto number = [&](double value) { return ir::float_imm(value, type); };
  const auto integer = [&](int64_t value) { return ir::int_imm(value, bits); };

  const Expr is_denormal = bindings.bind("is_denormal", x < number(format.min_normal));
  const Expr scaled = ir::select(is_denormal, x * number(format.scale), x);
  // The exponent field counts from sqrt(1/2) instead of 1.
  const Expr offset =
      bindings.bind("offset", ir::bitcast(bits.scalar, scaled) - integer(format.bits_of_half));
  const Expr exponent = ir::binary(BinaryOp::ShiftRight, offset, integer(format.mantissa_bits));
  const Expr fraction =
      ir::binary(BinaryOp::BitAnd, offset, integer((int64_t{1} << format.mantissa_bits) - 1));
  const Expr unscale = ir::select(is_denormal, number(-(format.mantissa_bits + 1)), number(0));
  return {.exponent = bindings.bind("exponent", ir::cast(type.scalar, exponent) + unscale),
          .mantissa = bindings.bind(
              "mantissa", ir::bitcast(type.scalar, fraction + integer(format.bits_of_half)))};
}

}  // namespace tilewright::lower
