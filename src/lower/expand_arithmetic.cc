#include "lower/expand_arithmetic.h"

#include <limits>

namespace tilewright::lower {

using ir::BinaryOp;
using ir::Expr;
using ir::Scalar;

bool is_f32(ir::Type type) {
  CHECK(type.scalar == Scalar::F32 || type.scalar == Scalar::F64, "no functions of {}",
        ir::to_string(type));
  return type.scalar == Scalar::F32;
}

ir::Type bits_type(ir::Type type) { return {is_f32(type) ? Scalar::I32 : Scalar::I64, type.lanes}; }

Expr at_most(const Expr& x, double high) {
  const Expr limit = ir::float_imm(high, x.type());
  return ir::select(limit < x, limit, x);
}

Expr at_least(const Expr& x, double low) {
  const Expr limit = ir::float_imm(low, x.type());
  return ir::select(ir::binary(BinaryOp::Gt, limit, x), limit, x);
}

Expr with_sign_of(const Expr& magnitude, const Expr& sign) {
  const ir::Type type = magnitude.type();
  const ir::Type bits = bits_type(type);
  const int64_t sign_bit =
      is_f32(type) ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
  const Expr taken =
      ir::binary(BinaryOp::BitAnd, ir::bitcast(bits.scalar, sign), ir::int_imm(sign_bit, bits));
  return ir::bitcast(type.scalar,
                     ir::binary(BinaryOp::BitOr, ir::bitcast(bits.scalar, magnitude), taken));
}

Expr round_product(const Expr& x, double factor) {
  const ir::Type type = x.type();
  const Expr shift = ir::float_imm(is_f32(type) ? 0x1.8p23 : 0x1.8p52, type);
  return ir::fma(x, ir::float_imm(factor, type), shift) - shift;
}

Expr horner(std::span<const double> coefficients, const Expr& x) {
  Expr sum = ir::float_imm(coefficients.back(), x.type());
  for (size_t power = coefficients.size() - 1; power-- > 0;) {
    sum = ir::fma(std::move(sum), x, ir::float_imm(coefficients[power], x.type()));
  }
  return sum;
}

}  // namespace tilewright::lower
