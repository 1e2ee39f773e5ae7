#include "codegen/c/c_casts.h"

#include <fmt/format.h>

namespace tilewright::codegen {

using ir::Scalar;

CValue CCasts::cast(const CValue& value, Scalar to) {
  const Scalar from = value.type.scalar;
  if (from == to) return value;
  if (from == Scalar::Bool) return from_bool(value, to);
  if (from == Scalar::F16) return cast(convert(value, Scalar::F32, "from_f16"), to);
  if (from == Scalar::BF16) return cast(convert(value, Scalar::F32, "from_bf16"), to);
  if (to == Scalar::Bool) {
    const CValue zero = values_.map(value.type, value, [&](size_t, CType type) -> Piece {
      return {type.is_vector() ? fmt::format("({}){{0}}", values_.helpers().type(type)) : "0"};
    });
    return arithmetic_.compare(ir::BinaryOp::Ne, value, zero);
  }
  if (to == Scalar::F16 || to == Scalar::BF16) return narrow_float(value, to);
  if (ir::is_float(from) && !ir::is_float(to)) return convert(value, to, "saturate");
  CValue result = convert(value, to);
  if (to == Scalar::I64 && !value.type.is_vector()) {
    result.range = arith::interval_of_type(value.type);
  }
  return result;
}

// A mask is 0 or -1.
CValue CCasts::from_bool(const CValue& value, Scalar to) {
  if (to == Scalar::F16 || to == Scalar::BF16)
    return narrow_float(from_bool(value, Scalar::F32), to);
  const ir::Type type{to, value.type.lanes};
  return values_.map(type, value, [&](size_t k, CType piece) -> Piece {
    const std::string& text = value.pieces[k].text;
    const std::string name = values_.helpers().type({c_base(to), piece.lanes});
    if (!piece.is_vector()) return {fmt::format("({}){}", name, text)};
    return {fmt::format("__builtin_convertvector(-{}, {})", text, name)};
  });
}

// Any number except F16, BF16 and Bool -> F16 or BF16, rounded once: through F32 with round-to-odd.
CValue CCasts::narrow_float(const CValue& value, Scalar to) {
  const char* helper = to == Scalar::F16 ? "to_f16" : "to_bf16";
  const Scalar from = value.type.scalar;
  if (from == Scalar::F32) return convert(value, to, helper);
  if (from == Scalar::F64) return convert(convert(value, Scalar::F32, "to_odd"), to, helper);
  const bool exact_in_f32 = ir::bytes_of(from) <= 2;
  if (exact_in_f32) return convert(convert(value, Scalar::F32), to, helper);
  const bool exact_in_f64 = from != Scalar::I64;
  return narrow_float(convert(value, Scalar::F64, exact_in_f64 ? "" : "to_near"), to);
}

// By a helper, or by a C conversion.
CValue CCasts::convert(const CValue& value, Scalar to, std::string_view helper) {
  const ir::Type type{to, value.type.lanes};
  return values_.map(type, value, [&](size_t k, CType from) -> Piece {
    const CType result{c_base(to), from.lanes};
    if (!helper.empty()) return {values_.call(helper, from, {value.pieces[k].text}, result)};
    const std::string name = values_.helpers().type(result);
    if (!from.is_vector()) {
      return {fmt::format("({}){}", name, at_most(value.pieces[k], Precedence::Atom))};
    }
    return {fmt::format("__builtin_convertvector({}, {})", value.pieces[k].text, name)};
  });
}

}  // namespace tilewright::codegen
