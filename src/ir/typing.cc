#include "ir/typing.h"

namespace tilewright::ir {
namespace {

// F16 and BF16 are for storage only (ir/type.h).
bool has_arithmetic(Type t) { return arithmetic_type(t.scalar) == t.scalar; }
bool is_number(Type t) { return has_arithmetic(t) && !is_bool(t); }
bool is_real(Type t) { return is_float(t) && has_arithmetic(t); }

const char* fault(const Binary& n) {
  const Type t = n.a.type();
  if (t != n.b.type()) return "operands differ in type";
  if (n.type != result_type(n.op, t)) return "result type does not follow from the operands";
  switch (n.op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Min:
    case BinaryOp::Max:
      return is_number(t) ? nullptr : "operands are not numbers";
    case BinaryOp::Mod:
      return is_integer(t) ? nullptr : "operands of % are not integers";
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      return has_arithmetic(t) ? nullptr : "operands are of a storage type";
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
      return is_number(t) ? nullptr : "operands are not numbers";
    case BinaryOp::And:
    case BinaryOp::Or:
      return is_bool(t) ? nullptr : "operands are not Bool";
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
    case BinaryOp::ShiftLeft:
    case BinaryOp::ShiftRight:
      return is_integer(t) ? nullptr : "operands are not integers";
  }
  return "unknown operator";
}

const char* fault(const Fma& n) {
  if (n.a.type() != n.b.type() || n.a.type() != n.c.type()) return "operands differ in type";
  if (n.type != n.c.type()) return "result type does not follow from the operands";
  return is_real(n.type) ? nullptr : "operands of fma are not F32 or F64";
}

const char* fault(const Select& n) {
  if (n.if_true.type() != n.if_false.type()) return "arms differ in type";
  if (n.type != n.if_true.type()) return "result type does not follow from the arms";
  if (n.condition.type() != kBool.with_lanes(n.type.lanes)) {
    return "condition is not Bool of the lanes of the arms";
  }
  return nullptr;
}

const char* fault(const Call& n) {
  const size_t arity = n.function == Intrinsic::Pow || n.function == Intrinsic::Ldexp ? 2 : 1;
  if (n.args.size() != arity) return "wrong number of arguments";
  const Type t = n.args[0].type();
  if (arity == 2 && n.args[1].type() != t) return "arguments differ in type";
  if (n.function == Intrinsic::Bitcast) {
    const bool same_size = bytes_of(n.type.scalar) == bytes_of(t.scalar) && n.type.lanes == t.lanes;
    return same_size && !is_bool(t) && !is_bool(n.type) ? nullptr : "bitcast between sizes";
  }
  if (n.type != t) return "result type does not follow from the arguments";
  switch (n.function) {
    case Intrinsic::Neg:
    case Intrinsic::Abs:
      return is_number(t) ? nullptr : "argument is not a number";
    case Intrinsic::Not:
      return is_bool(t) ? nullptr : "argument is not Bool";
    default:
      return is_real(t) ? nullptr : "argument is not F32 or F64";
  }
}

const char* fault(const Load& n) {
  uint16_t lanes = 1;
  for (const Expr& index : n.indices) {
    if (index.type().scalar != Scalar::I64) return "index is not I64";
    if (index.type().lanes != n.indices[0].type().lanes) return "indices differ in lanes";
    lanes = index.type().lanes;
  }
  // A scalar index may give a vector: the whole element of a Register buffer.
  return lanes == 1 || lanes == n.type.lanes ? nullptr : "lanes of indices and result differ";
}

const char* fault(const VectorReduce& n) {
  if (n.type != n.value.type().element()) return "result type does not follow from the operand";
  switch (n.op) {
    case BinaryOp::Add:
    case BinaryOp::Mul:
    case BinaryOp::Min:
    case BinaryOp::Max:
      return is_number(n.type) ? nullptr : "operand is not of numbers";
    case BinaryOp::And:
    case BinaryOp::Or:
      return is_bool(n.type) ? nullptr : "operand is not Bool";
    default:
      return "operator does not reduce";
  }
}

const char* fault(const Dot& n) {
  const Type sum = n.sum.type(), a = n.a.type(), b = n.b.type();
  if (n.type != sum) return "result type does not follow from the sum";
  const bool rows = n.rows > 0 && sum.lanes % n.rows == 0 && a.lanes % n.rows == 0;
  if (!rows || b.lanes != n.lanes() * n.factors()) {
    return "lanes of a dot product are not R * L, R * F and L * F";
  }
  const auto is_byte = [](Type t) { return is_integer(t) && bytes_of(t.scalar) == 1; };
  const bool integers = sum.scalar == Scalar::I32 && is_byte(a) && is_byte(b);
  const bool halves = a.scalar == Scalar::F16 || a.scalar == Scalar::BF16;
  const bool floats = sum.scalar == Scalar::F32 && halves && a.scalar == b.scalar;
  const bool doubles = sum.scalar == Scalar::F64 && a.scalar == Scalar::F64 &&
                       b.scalar == Scalar::F64 && n.rounding == DotRounding::Ascending;
  return integers || floats || doubles
             ? nullptr
             : "a dot product is I32 of I8 or U8, F32 of F16 or of BF16, or F64 of F64";
}

}  // namespace

bool is_comparison(BinaryOp op) { return op >= BinaryOp::Eq && op <= BinaryOp::Ge; }

Type result_type(BinaryOp op, Type operand) {
  return is_comparison(op) ? kBool.with_lanes(operand.lanes) : operand;
}

const char* type_fault(const Node& node) {
  if (node.type.lanes == 0) return "no lanes";
  switch (node.kind) {
    case ExprKind::IntImm: {
      const auto& n = static_cast<const IntImm&>(node);
      if (is_float(n.type) || n.type.is_vector()) return "type is not a scalar integer or Bool";
      return wrap_integer(n.value, n.type.scalar) == n.value ? nullptr : "value is out of range";
    }
    case ExprKind::FloatImm:
      return is_float(node.type) && !node.type.is_vector() ? nullptr : "type is not a scalar float";
    case ExprKind::Var:
      return nullptr;
    case ExprKind::Cast:
      return static_cast<const Cast&>(node).value.type().lanes == node.type.lanes
                 ? nullptr
                 : "a cast keeps lanes";
    case ExprKind::Binary:
      return fault(static_cast<const Binary&>(node));
    case ExprKind::Fma:
      return fault(static_cast<const Fma&>(node));
    case ExprKind::Select:
      return fault(static_cast<const Select&>(node));
    case ExprKind::Call:
      return fault(static_cast<const Call&>(node));
    case ExprKind::Load:
      return fault(static_cast<const Load&>(node));
    case ExprKind::Ramp: {
      const Type base = static_cast<const Ramp&>(node).base.type();
      if (base.is_vector() || base.scalar != node.type.scalar) return "base is not a scalar";
      return is_integer(base) ? nullptr : "base is not an integer";
    }
    case ExprKind::Broadcast: {
      const Type value = static_cast<const Broadcast&>(node).value.type();
      return value == node.type.element() ? nullptr : "value is not a scalar";
    }
    case ExprKind::VectorReduce:
      return fault(static_cast<const VectorReduce&>(node));
    case ExprKind::Dot:
      return fault(static_cast<const Dot&>(node));
  }
  return "unknown kind";
}

}  // namespace tilewright::ir
