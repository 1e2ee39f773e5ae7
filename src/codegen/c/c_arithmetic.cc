#include "codegen/c/c_arithmetic.h"

#include <fmt/format.h>

#include <bit>

#include "ir/typing.h"

namespace tilewright::codegen {
namespace {

using ir::BinaryOp;

const char* helper_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
      return "add";
    case BinaryOp::Sub:
      return "sub";
    case BinaryOp::Mul:
      return "mul";
    case BinaryOp::Div:
      return "div";
    case BinaryOp::Mod:
      return "mod";
    case BinaryOp::Min:
      return "min";
    case BinaryOp::Max:
      return "max";
    case BinaryOp::Eq:
      return "eq";
    case BinaryOp::Ne:
      return "ne";
    case BinaryOp::Lt:
      return "lt";
    case BinaryOp::Le:
      return "le";
    case BinaryOp::Gt:
      return "gt";
    case BinaryOp::Ge:
      return "ge";
    case BinaryOp::And:
    case BinaryOp::BitAnd:
      return "and";
    case BinaryOp::Or:
    case BinaryOp::BitOr:
      return "or";
    case BinaryOp::BitXor:
      return "xor";
    case BinaryOp::ShiftLeft:
      return "shl";
    case BinaryOp::ShiftRight:
      return "shr";
  }
  return "";
}

const char* operator_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::And:
    case BinaryOp::BitAnd:
      return "&";
    case BinaryOp::Or:
    case BinaryOp::BitOr:
      return "|";
    case BinaryOp::BitXor:
      return "^";
    default:
      return ir::name_of(op).data();
  }
}

// `a op b`, one of + - * / %; operators of equal precedence associate to the left.
Piece infix(BinaryOp op, const Piece& a, const Piece& b) {
  const bool is_sum = op == BinaryOp::Add || op == BinaryOp::Sub;
  const Precedence precedence = is_sum ? Precedence::Sum : Precedence::Product;
  const Precedence right = is_sum ? Precedence::Product : Precedence::Atom;
  return {fmt::format("{} {} {}", at_most(a, precedence), operator_of(op), at_most(b, right)),
          precedence};
}

bool is_bitwise(BinaryOp op) {
  return op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::BitAnd ||
         op == BinaryOp::BitOr || op == BinaryOp::BitXor;
}

}  // namespace

CValue CArithmetic::index_arithmetic(BinaryOp op, const CValue& a, const CValue& b) {
  CValue result{.type = a.type, .pieces = {}};
  if (op == BinaryOp::Mul) {
    result.range = arith::product(a.range, b.range);
  } else {
    arith::IntervalSum sum;
    sum.add(1, a.range);
    sum.add(op == BinaryOp::Add ? 1 : -1, b.range);
    result.range = sum.get();
  }
  const bool safe =
      arith::bounded(a.range) && arith::bounded(b.range) && arith::bounded(result.range);
  if (!safe) result.range = arith::kEverything;
  result.pieces.push_back(safe ? infix(op, a.pieces[0], b.pieces[0])
                               : combine(op, {CBase::I64, 1}, a.pieces[0], b.pieces[0]));
  return result;
}

Piece CArithmetic::combine(BinaryOp op, CType type, const Piece& a, const Piece& b) {
  if (type.base == CBase::Bool) {
    const char* symbol = op == BinaryOp::And ? "&&" : op == BinaryOp::Or ? "||" : operator_of(op);
    return {fmt::format("({} {} {})", a.text, symbol, b.text)};
  }
  if (is_bitwise(op)) {
    return {fmt::format("({} {} {})", at_most(a, Precedence::Atom), operator_of(op),
                        at_most(b, Precedence::Atom))};
  }
  const bool is_min_max = op == BinaryOp::Min || op == BinaryOp::Max;
  if (is_float(type.base) && !is_min_max) return infix(op, a, b);
  return {values_.call(helper_of(op), type, {a.text, b.text})};
}

CValue CArithmetic::compare(BinaryOp op, CValue a, CValue b) {
  const ir::Type type = a.type;
  const bool is_ordering = op != BinaryOp::Eq && op != BinaryOp::Ne;
  if (ir::is_bool(type) && type.is_vector()) {
    b = values_.as_mask(b, a.mask_bytes);
    if (is_ordering) std::swap(a, b);  // true is -1
  }
  // Avoids always-true warnings.
  const bool wary = !ir::is_float(type) && !ir::is_signed(type.scalar);
  CValue result =
      values_.map(ir::kBool.with_lanes(type.lanes), a, [&](size_t k, CType piece) -> Piece {
        const Piece& x = a.pieces[k];
        const Piece& y = b.pieces[k];
        if (!piece.is_vector() && wary) {
          const bool swapped = ir::is_bool(type) && type.is_vector() && is_ordering;
          return {values_.call(helper_of(op), piece,
                               {swapped ? y.text : x.text, swapped ? x.text : y.text})};
        }
        const std::string text = fmt::format("({} {} {})", at_most(x, Precedence::Sum),
                                             operator_of(op), at_most(y, Precedence::Sum));
        if (!piece.is_vector()) return {text};
        return {"(" + values_.helpers().type({signed_of_size(bytes_of(piece.base)), piece.lanes}) +
                ")" + text};
      });
  if (type.is_vector()) {
    result.mask_bytes = ir::is_bool(type) ? a.mask_bytes : bytes_of(c_base(type.scalar));
  }
  return result;
}

std::optional<CValue> CArithmetic::divide_by_constant(BinaryOp op, const CValue& a,
                                                      const int64_t* constant) {
  const bool is_div = op == BinaryOp::Div;
  const ir::Type type = a.type;
  const bool positive = constant != nullptr && *constant > 0;
  if (type == ir::kIndex && positive && a.range.low >= 0) {
    CValue result{.type = type, .pieces = {infix(op, a.pieces[0], {std::to_string(*constant)})}};
    const arith::Interval divisor{*constant, *constant};
    result.range = is_div ? arith::floor_div(a.range, divisor) : arith::floor_mod(a.range, divisor);
    return result;
  }
  if (positive && std::has_single_bit(static_cast<uint64_t>(*constant))) {
    const int shift = std::countr_zero(static_cast<uint64_t>(*constant));
    return values_.map(type, a, [&](size_t k, CType) -> Piece {
      const std::string x = at_most(a.pieces[k], Precedence::Atom);
      return {is_div ? fmt::format("({} >> {})", x, shift)
                     : fmt::format("({} & {})", x, *constant - 1)};
    });
  }
  return std::nullopt;
}

CValue CArithmetic::or_one(const CValue& b, const CValue& under) {
  const CValue mask = values_.as_mask(under, bytes_of(c_base(b.type.scalar)));
  return values_.map(b.type, b, [&](size_t k, CType piece) -> Piece {
    if (!piece.is_vector()) {
      return {fmt::format("({} ? {} : 1)", mask.pieces[k].text, b.pieces[k].text)};
    }
    return {
        values_.call("select", piece,
                     {mask.pieces[k].text, b.pieces[k].text, values_.call("splat", piece, {"1"})})};
  });
}

CValue CArithmetic::divide(BinaryOp op, const CValue& a, const CValue& b) {
  const ir::Type type = a.type;
  const std::string helper = std::string(helper_of(op)) + (ir::is_signed(type.scalar) ? "" : "u");
  return values_.map(type, a, [&](size_t k, CType piece) -> Piece {
    return {values_.call(helper, piece, {a.pieces[k].text, b.pieces[k].text})};
  });
}

}  // namespace tilewright::codegen
