// Elementwise operators of several operands with NumPy's broadcasting: one stage Y of the common
// shape. Operands X0, X1, ...
//
//   add max min         of one or more operands       sub mul div mod pow   of two
//   div                 of integers drops the fraction; by zero it gives 0
//   mod                 fmod=0: the sign of the divisor, fmod=1: of the dividend; by zero: 0
//   pow                 of the type of the base, which may differ from the exponent's
//   equal less less_equal greater greater_equal      give bool
//   and or xor          of bool
//   bit_and bit_or bit_xor                           of integers
//   shift               direction=left|right; a distance beyond the type's bits gives 0
//   where               (bool, a, b)
//   prelu               x < 0 ? x * slope : x; the slope broadcasts to x
//   clip                (x, low?, high?) with scalar bounds; if they cross, the high one wins
#include <fmt/format.h>

#include <limits>

#include "graph/ops/common.h"
#include "graph/ops/families.h"

namespace tilewright::graph {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Scalar;

// The operands in a builder, read at the axes of the common shape.
struct Operands {
  te::DagBuilder builder;
  std::vector<te::Axis> axes;
  std::vector<Expr> values;  // in their arithmetic types
};

Result<Operands> read_all(const OpDef& op, OperandTypes operands) {
  std::vector<Shape> shapes;
  shapes.reserve(operands.size());
  for (const auto& type : operands) {
    if (!type) return bad(op, "an operand is left out");
    shapes.push_back(type->shape);
  }
  const auto common = TRY(broadcast_shape(op, shapes));
  TRY(require_result(op, common));
  Operands all;
  std::vector<te::TensorId> tensors;
  tensors.reserve(operands.size());
  for (size_t k = 0; k < operands.size(); ++k) {
    tensors.push_back(placeholder(all.builder, fmt::format("X{}", k), *operands[k]));
  }
  all.axes = te::axes_of(all.builder, common);
  for (const te::TensorId tensor : tensors) {
    all.values.push_back(read_broadcast(all.builder, tensor, all.axes));
  }
  return all;
}

Status require_one_type(const OpDef& op, OperandTypes operands, size_t first = 0) {
  for (size_t k = first + 1; k < operands.size(); ++k) {
    if (!operands[k] || !operands[first]) continue;
    if (operands[k]->element == operands[first]->element) continue;
    return bad(
        op, fmt::format("operands of types {} and {}; they should have one",
                        ir::name_of(operands[first]->element), ir::name_of(operands[k]->element)));
  }
  return {};
}

enum class Takes : uint8_t { Numbers, Integers, Bools, Any };

Status require_type(const OpDef& op, Takes takes, Scalar element) {
  switch (takes) {
    case Takes::Numbers:
      return require_number(op, element);
    case Takes::Integers:
      return require_integer(op, element);
    case Takes::Bools:
      if (element == Scalar::Bool) return {};
      return unsupported(op, fmt::format("is for bool, not for {}", ir::name_of(element)));
    case Takes::Any:
      break;
  }
  return {};
}

using Apply = Expr (*)(const Expr& a, const Expr& b);

// Operands of the same type combined from the left; the result has that type, or Bool if `apply`
// gives it.
template <Takes takes, Apply apply>
DagResult fold(const OpDef& op, const Attributes&, OperandTypes operands) {
  TRY(require_one_type(op, operands));
  const Scalar element = operands[0]->element;
  TRY(require_type(op, takes, element));
  auto all = TRY(read_all(op, operands));
  Expr value = all.values[0];
  for (size_t k = 1; k < all.values.size(); ++k) value = apply(value, all.values[k]);
  const bool compares = value.type() == ir::kBool;
  return finish(std::move(all.builder), all.axes, value, compares ? Scalar::Bool : element);
}

template <BinaryOp op>
Expr binary(const Expr& a, const Expr& b) {
  return ir::binary(op, a, b);
}

Expr is_zero(const Expr& x) { return equal(x, number(0, x)); }

// a / b of integers with `divide`; 0 if b is 0.
template <class Divide>
Expr unless_zero(const Expr& b, const Divide& divide) {
  return ir::select(is_zero(b), number(0, b), divide());
}

// The quotient truncated toward zero; that of ir rounds down.
Expr truncated_quotient(const Expr& a, const Expr& b) {
  if (!ir::is_signed(a.type().scalar)) return a / b;
  const Expr down = a / b;
  const Expr negative = ir::binary(BinaryOp::Ne, a < number(0, a), b < number(0, b));
  const Expr rest = ir::binary(BinaryOp::Ne, a % b, number(0, a));
  return ir::select(negative && rest, down + number(1, down), down);
}

Expr divide(const Expr& a, const Expr& b) {
  if (ir::is_float(a.type())) return a / b;
  return unless_zero(b, [&] { return truncated_quotient(a, b); });
}

Expr floor_of(const Expr& x) { return call(ir::Intrinsic::Floor, x); }

Expr truncated(const Expr& x) {
  return ir::select(x < number(0, x),
                    call(ir::Intrinsic::Neg, floor_of(call(ir::Intrinsic::Neg, x))), floor_of(x));
}

// The remainder by an infinite divisor, as in NumPy: the dividend, or the divisor if their signs
// differ and the result has the sign of the divisor. NaN for an infinite dividend.
Expr unless_infinite(const Expr& a, const Expr& b, const Expr& otherwise, const Expr& remainder) {
  const Expr infinite =
      equal(call(ir::Intrinsic::Abs, b), number(std::numeric_limits<double>::infinity(), b));
  return ir::select(infinite, remainder + (a - a), otherwise);
}

Expr modulo(const Expr& a, const Expr& b) {
  if (!ir::is_float(a.type())) {
    return unless_zero(b, [&] { return a % b; });
  }
  const Expr zero = number(0, a);
  const Expr differ =
      ir::binary(BinaryOp::Ne, a < zero, b < zero) && ir::binary(BinaryOp::Ne, a, zero);
  return unless_infinite(a, b, a - floor_of(a / b) * b, ir::select(differ, b, a));
}

Expr remainder(const Expr& a, const Expr& b) {
  if (!ir::is_float(a.type())) {
    return unless_zero(b, [&] { return a - truncated_quotient(a, b) * b; });
  }
  return unless_infinite(a, b, a - truncated(a / b) * b, a);
}

DagResult build_mod(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const bool fmod = attributes.integer("fmod", 0) != 0;
  return fmod ? fold<Takes::Numbers, remainder>(op, attributes, operands)
              : fold<Takes::Numbers, modulo>(op, attributes, operands);
}

// Integers are raised in f64, exact up to 2^53.
DagResult build_pow(const OpDef& op, const Attributes&, OperandTypes operands) {
  auto all = TRY(read_all(op, operands));
  const Scalar element = operands[0]->element;
  for (const auto& type : operands) {
    TRY(require_number(op, type->element));
  }
  const Scalar base = all.values[0].type().scalar;
  const Scalar computed = ir::is_float(base) ? base : Scalar::F64;
  Expr value = ir::call(ir::Intrinsic::Pow,
                        {ir::cast(computed, all.values[0]), ir::cast(computed, all.values[1])});
  if (!ir::is_float(base)) value = ir::cast(base, call(ir::Intrinsic::Round, value));
  return finish(std::move(all.builder), all.axes, value, element);
}

template <BinaryOp op>
Expr shifted(const Expr& a, const Expr& b) {
  const int bits = 8 * ir::bytes_of(a.type().scalar);
  Expr inside = b < number(bits, b);
  if (ir::is_signed(b.type().scalar)) inside = inside && b >= number(0, b);
  return ir::select(inside, ir::binary(op, a, b), number(0, a));
}

DagResult build_shift(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  constexpr std::string_view kDirections[] = {"left", "right"};
  Reader read(op, attributes);
  const size_t direction = read.choice("direction", "left", kDirections);
  TRY(read.status());
  return direction == 0
             ? fold<Takes::Integers, shifted<BinaryOp::ShiftLeft>>(op, attributes, operands)
             : fold<Takes::Integers, shifted<BinaryOp::ShiftRight>>(op, attributes, operands);
}

DagResult build_where(const OpDef& op, const Attributes&, OperandTypes operands) {
  TRY(require_one_type(op, operands, 1));
  if (operands[0]->element != Scalar::Bool) {
    return bad(op, fmt::format("the condition is {}, not bool", ir::name_of(operands[0]->element)));
  }
  auto all = TRY(read_all(op, operands));
  return finish(std::move(all.builder), all.axes,
                ir::select(all.values[0], all.values[1], all.values[2]), operands[1]->element);
}

Expr sloped(const Expr& x, const Expr& slope) { return ir::select(x < number(0, x), x * slope, x); }

DagResult build_prelu(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  if (!broadcasts_to(operands[1]->shape, operands[0]->shape)) {
    return bad(op, fmt::format("a slope of {} does not broadcast to {}",
                               shape_text(operands[1]->shape), shape_text(operands[0]->shape)));
  }
  return fold<Takes::Numbers, sloped>(op, attributes, operands);
}

DagResult build_clip(const OpDef& op, const Attributes&, OperandTypes operands) {
  const TensorType& x = *operands[0];
  TRY(require_number(op, x.element));
  te::DagBuilder builder;
  std::vector<te::TensorId> tensors;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!operands[k]) continue;
    if (k > 0 && (operands[k]->elements() != 1 || operands[k]->element != x.element)) {
      return bad(op, fmt::format("a bound of {} for {}", operands[k]->to_string(), x.to_string()));
    }
    tensors.push_back(placeholder(builder, fmt::format("X{}", k), *operands[k]));
  }
  const std::vector<te::Axis> axes = te::axes_of(builder, x.shape);
  const auto bound = [&](te::TensorId tensor) {
    const size_t rank = builder.tensor(tensor).shape.size();
    return builder.read(tensor, std::vector<Expr>(rank, ir::int_imm(0)));
  };
  size_t next = 0;
  Expr value = builder.read(tensors[next++], te::vars_of(axes));
  if (has(operands, 1)) value = ir::max(value, bound(tensors[next++]));
  if (has(operands, 2)) value = ir::min(value, bound(tensors[next++]));
  return finish(std::move(builder), axes, value, x.element);
}

Expr exclusive_or(const Expr& a, const Expr& b) { return ir::binary(BinaryOp::Ne, a, b); }

constexpr OpDef kOps[] = {
    {"add", Work::Map, 1, kAnyNumber, fold<Takes::Numbers, binary<BinaryOp::Add>>},
    {"sub", Work::Map, 2, 2, fold<Takes::Numbers, binary<BinaryOp::Sub>>},
    {"mul", Work::Map, 2, 2, fold<Takes::Numbers, binary<BinaryOp::Mul>>},
    {"div", Work::Map, 2, 2, fold<Takes::Numbers, divide>},
    {"mod", Work::Map, 2, 2, build_mod},
    {"pow", Work::Map, 2, 2, build_pow},
    {"max", Work::Map, 1, kAnyNumber, fold<Takes::Numbers, binary<BinaryOp::Max>>},
    {"min", Work::Map, 1, kAnyNumber, fold<Takes::Numbers, binary<BinaryOp::Min>>},
    {"equal", Work::Map, 2, 2, fold<Takes::Any, binary<BinaryOp::Eq>>},
    {"less", Work::Map, 2, 2, fold<Takes::Numbers, binary<BinaryOp::Lt>>},
    {"less_equal", Work::Map, 2, 2, fold<Takes::Numbers, binary<BinaryOp::Le>>},
    {"greater", Work::Map, 2, 2, fold<Takes::Numbers, binary<BinaryOp::Gt>>},
    {"greater_equal", Work::Map, 2, 2, fold<Takes::Numbers, binary<BinaryOp::Ge>>},
    {"and", Work::Map, 2, 2, fold<Takes::Bools, binary<BinaryOp::And>>},
    {"or", Work::Map, 2, 2, fold<Takes::Bools, binary<BinaryOp::Or>>},
    {"xor", Work::Map, 2, 2, fold<Takes::Bools, exclusive_or>},
    {"bit_and", Work::Map, 2, 2, fold<Takes::Integers, binary<BinaryOp::BitAnd>>},
    {"bit_or", Work::Map, 2, 2, fold<Takes::Integers, binary<BinaryOp::BitOr>>},
    {"bit_xor", Work::Map, 2, 2, fold<Takes::Integers, binary<BinaryOp::BitXor>>},
    {"shift", Work::Map, 2, 2, build_shift},
    {"where", Work::Map, 3, 3, build_where},
    {"prelu", Work::Map, 2, 2, build_prelu},
    {"clip", Work::Map, 1, 3, build_clip},
};

}  // namespace

std::span<const OpDef> map_ops() { return kOps; }

}  // namespace tilewright::graph
