#include "graph/expr_evaluator.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "ir/element.h"
#include "ir/visit.h"
#include "te/eval.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

Number integer(int64_t value) { return {.i = value}; }
Number real(double value) { return {.f = value}; }

bool compares(ir::BinaryOp op) { return op >= ir::BinaryOp::Eq && op <= ir::BinaryOp::Ge; }

}  // namespace

Number load(std::span<const std::byte> bytes, Scalar element, int64_t offset) {
  if (ir::is_float(element)) return real(ir::read_element(bytes.data(), element, offset));
  if (element != Scalar::I64) {
    return integer(static_cast<int64_t>(ir::read_element(bytes.data(), element, offset)));
  }
  int64_t value = 0;
  std::memcpy(&value, bytes.data() + offset * 8, sizeof value);
  return integer(value);
}

void store(std::span<std::byte> bytes, Scalar element, int64_t offset, Number value) {
  if (ir::is_float(element)) {
    ir::write_element(bytes.data(), element, offset, value.f);
    return;
  }
  const int64_t wrapped = ir::wrap_integer(value.i, element);
  const int width = ir::bytes_of(element);
  std::memcpy(bytes.data() + offset * width, &wrapped, static_cast<size_t>(width));
}

Number converted(Number value, Scalar from, Scalar to) {
  if (from == to) return value;
  if (ir::is_float(from)) {
    return ir::is_float(to) ? real(ir::convert(value.f, to))
                            : integer(ir::convert_to_integer(value.f, to));
  }
  if (!ir::is_float(to)) return integer(ir::wrap_integer(value.i, to));
  if (to == Scalar::F32) return real(static_cast<float>(value.i));
  return real(ir::convert(static_cast<double>(value.i), to));
}

Number apply(ir::BinaryOp op, Number a, Number b, Scalar type) {
  if (!ir::is_float(type)) return integer(te::apply_integers(op, type, a.i, b.i));
  const double result = te::apply_floats(op, a.f, b.f);
  return compares(op) ? integer(result != 0 ? 1 : 0) : real(result);
}

size_t ExprEvaluator::variable(const ir::Expr& var) {
  variable_of_.emplace(var.as<ir::Var>()->id, variables_.size());
  variables_.push_back(integer(0));
  return variables_.size() - 1;
}

void ExprEvaluator::set(size_t variable, Number value) {
  variables_[variable] = value;
  ++round_;
}

size_t ExprEvaluator::add(const ir::Expr& expr) {
  const auto known = code_of_.find(expr.get());
  if (known != code_of_.end()) return known->second;
  Code code;
  code.node = expr.get();
  code.type = expr.type().scalar;
  if (const auto* var = expr.as<ir::Var>()) code.operands = {variable_of_.at(var->id)};
  bool first = true;
  ir::for_each_child(expr, [&](const ir::Expr& child) {
    if (std::exchange(first, false)) code.operand_type = child.type().scalar;
    code.operands.push_back(add(child));
  });
  codes_.push_back(std::move(code));
  return code_of_[expr.get()] = codes_.size() - 1;
}

Number ExprEvaluator::value(size_t expression) {
  if (codes_[expression].round == round_) return codes_[expression].result;
  const Number result = compute(codes_[expression]);
  codes_[expression].result = result;
  codes_[expression].round = round_;
  return result;
}

Number ExprEvaluator::compute(const Code& code) {
  switch (code.node->kind) {
    case ir::ExprKind::IntImm:
      return integer(static_cast<const ir::IntImm*>(code.node)->value);
    case ir::ExprKind::FloatImm:
      return real(static_cast<const ir::FloatImm*>(code.node)->value);
    case ir::ExprKind::Var:
      return variables_[code.operands[0]];
    case ir::ExprKind::Cast:
      return converted(value(code.operands[0]), code.operand_type, code.type);
    case ir::ExprKind::Binary:
      return compute_binary(code);
    case ir::ExprKind::Fma: {
      const Number a = value(code.operands[0]), b = value(code.operands[1]);
      const Number product = apply(ir::BinaryOp::Mul, a, b, code.type);
      return apply(ir::BinaryOp::Add, product, value(code.operands[2]), code.type);
    }
    case ir::ExprKind::Select:
      return value(code.operands[value(code.operands[0]).i != 0 ? 1 : 2]);
    case ir::ExprKind::Call:
      return compute_call(code);
    case ir::ExprKind::Load:
      return compute_load(code);
    default:
      CHECK(false, "a vector expression in a Dag");
  }
}

Number ExprEvaluator::compute_binary(const Code& code) {
  const Number a = value(code.operands[0]), b = value(code.operands[1]);
  return apply(static_cast<const ir::Binary*>(code.node)->op, a, b, code.operand_type);
}

Number ExprEvaluator::compute_call(const Code& code) {
  using enum ir::Intrinsic;
  const auto function = static_cast<const ir::Call*>(code.node)->function;
  const Number x = value(code.operands[0]);
  const bool is_float = ir::is_float(code.type);
  switch (function) {
    case Neg:
      return is_float ? real(-x.f) : apply(ir::BinaryOp::Sub, integer(0), x, code.type);
    case Abs:
      if (is_float) return real(std::fabs(x.f));
      return x.i < 0 ? apply(ir::BinaryOp::Sub, integer(0), x, code.type) : x;
    case Not:
      return integer(x.i == 0 ? 1 : 0);
    case Ldexp:
      return real(std::ldexp(x.f, static_cast<int>(value(code.operands[1]).f)));
    case Bitcast:
      CHECK(false, "bitcast has no meaning before lowering");
    default:
      return real(te::float_function(function, x.f,
                                     code.operands.size() > 1 ? value(code.operands[1]).f : 0));
  }
}

Number ExprEvaluator::compute_load(const Code& code) {
  const Array& array = arrays_[static_cast<const ir::Load*>(code.node)->buffer];
  int64_t offset = 0;
  for (size_t d = 0; d < array.shape.size(); ++d) {
    const int64_t index = value(code.operands[d]).i;
    CHECK(index >= 0 && index < array.shape[d], "index {} of dimension {} of {}", index, d,
          array.shape[d]);
    offset = offset * array.shape[d] + index;
  }
  return load(array.bytes, array.element, offset);
}

}  // namespace tilewright::graph
