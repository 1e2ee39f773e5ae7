// Elementwise functions of one operand: one stage Y of its shape.
//
//   neg abs sign relu                    of numbers
//   exp log sqrt rsqrt reciprocal erf tanh sigmoid floor ceil round sin cos tan asin acos atan sinh
//   cosh asinh acosh atanh softplus softsign mish silu hard_swish      of floats
//   not (bool), bit_not (integers)
//   is_nan, is_inf(positive=1, negative=1)         give bool
//   leaky_relu(alpha) elu(alpha) celu(alpha) selu(alpha, gamma) hard_sigmoid(alpha, beta)
//   thresholded_relu(alpha) shrink(bias, lambd) gelu(approximate=none|tanh)
//   cast(to)                             to another type, by the rules of ir/type.h
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "graph/ops/common.h"
#include "graph/ops/families.h"
#include "graph/ops/functions.h"

namespace tilewright::graph {
namespace {

using ir::Expr;
using ir::Intrinsic;
using ir::Scalar;

DagResult elementwise(const TensorType& type, Scalar stored,
                      const std::function<Expr(const Expr&)>& apply) {
  te::DagBuilder builder;
  const te::TensorId x = placeholder(builder, "X", type);
  const std::vector<te::Axis> axes = te::axes_of(builder, type.shape);
  const Expr value = apply(builder.read(x, te::vars_of(axes)));
  return finish(std::move(builder), axes, value, stored);
}

enum class Takes : uint8_t { Floats, Numbers };

template <Takes takes, Expr (*apply)(const Expr&)>
DagResult unary(const OpDef& op, const Attributes&, OperandTypes operands) {
  const Scalar element = operands[0]->element;
  TRY(takes == Takes::Floats ? require_float(op, element) : require_number(op, element));
  return elementwise(*operands[0], element, apply);
}

template <Intrinsic function>
Expr function_of(const Expr& x) {
  return call(function, x);
}

Expr negative_of(const Expr& x) {
  return ir::is_float(x.type()) ? call(Intrinsic::Neg, x) : number(0, x) - x;
}
Expr absolute_of(const Expr& x) {
  const bool is_unsigned = !ir::is_float(x.type()) && !ir::is_signed(x.type().scalar);
  return is_unsigned ? x : call(Intrinsic::Abs, x);
}
Expr relu_of(const Expr& x) { return ir::max(x, number(0, x)); }
Expr reciprocal_of(const Expr& x) { return number(1, x) / x; }
Expr softsign_of(const Expr& x) { return x / (number(1, x) + call(Intrinsic::Abs, x)); }
Expr silu_of(const Expr& x) { return x * call(Intrinsic::Sigmoid, x); }
Expr hard_swish_of(const Expr& x) {
  return x * ir::min(ir::max(x + number(3, x), number(0, x)), number(6, x)) * number(1.0 / 6, x);
}

// A function of floats with numbers as attributes, `a` and for some `b`.
struct WithNumbers {
  std::string_view name, a, b;
  double fallback_a = 0, fallback_b = 0;
  Expr (*apply)(const Expr& x, const Expr& a, const Expr& b) = nullptr;
};

Expr below_zero(const Expr& x) { return x < number(0, x); }

Expr elu_of(const Expr& x, const Expr& alpha, const Expr&) {
  return ir::select(below_zero(x), alpha * (ir::exp(x) - number(1, x)), x);
}
Expr celu_of(const Expr& x, const Expr& alpha, const Expr&) {
  return ir::select(below_zero(x), alpha * (ir::exp(x / alpha) - number(1, x)), x);
}
Expr selu_of(const Expr& x, const Expr& alpha, const Expr& gamma) {
  return gamma * ir::select(below_zero(x), alpha * (ir::exp(x) - number(1, x)), x);
}
Expr leaky_of(const Expr& x, const Expr& alpha, const Expr&) {
  return ir::select(below_zero(x), alpha * x, x);
}
Expr hard_sigmoid_of(const Expr& x, const Expr& alpha, const Expr& beta) {
  return ir::max(ir::min(x * alpha + beta, number(1, x)), number(0, x));
}
Expr thresholded_of(const Expr& x, const Expr& alpha, const Expr&) {
  return ir::select(ir::binary(ir::BinaryOp::Gt, x, alpha), x, number(0, x));
}
Expr shrink_of(const Expr& x, const Expr& bias, const Expr& lambd) {
  const Expr low = x < call(Intrinsic::Neg, lambd);
  const Expr high = ir::binary(ir::BinaryOp::Gt, x, lambd);
  return ir::select(low, x + bias, ir::select(high, x - bias, number(0, x)));
}

constexpr WithNumbers kWithNumbers[] = {
    {"leaky_relu", "alpha", "", 0.01, 0, leaky_of},
    {"elu", "alpha", "", 1, 0, elu_of},
    {"celu", "alpha", "", 1, 0, celu_of},
    {"selu", "alpha", "gamma", 1.67326319217681884765625, 1.05070102214813232421875, selu_of},
    {"hard_sigmoid", "alpha", "beta", 0.2, 0.5, hard_sigmoid_of},
    {"thresholded_relu", "alpha", "", 1, 0, thresholded_of},
    {"shrink", "bias", "lambd", 0, 0.5, shrink_of},
};

DagResult with_numbers(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  const WithNumbers& row = *std::ranges::find(kWithNumbers, op.name, &WithNumbers::name);
  const Scalar element = operands[0]->element;
  TRY(require_float(op, element));
  Reader read(op, attributes);
  const double a = read.number(row.a, row.fallback_a);
  const double b = row.b.empty() ? 0 : read.number(row.b, row.fallback_b);
  TRY(read.status());
  return elementwise(*operands[0], element,
                     [&](const Expr& x) { return row.apply(x, number(a, x), number(b, x)); });
}

DagResult build_gelu(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  constexpr std::string_view kForms[] = {"none", "tanh"};
  Reader read(op, attributes);
  const size_t form = read.choice("approximate", "none", kForms);
  TRY(read.status());
  return form == 0 ? unary<Takes::Floats, gelu_of>(op, attributes, operands)
                   : unary<Takes::Floats, gelu_tanh_of>(op, attributes, operands);
}

DagResult build_not(const OpDef& op, const Attributes&, OperandTypes operands) {
  if (operands[0]->element != Scalar::Bool) {
    return unsupported(op,
                       fmt::format("is for bool, not for {}", ir::name_of(operands[0]->element)));
  }
  return elementwise(*operands[0], Scalar::Bool, function_of<Intrinsic::Not>);
}

DagResult build_bit_not(const OpDef& op, const Attributes&, OperandTypes operands) {
  const Scalar element = operands[0]->element;
  TRY(require_integer(op, element));
  return elementwise(*operands[0], element, [&](const Expr& x) {
    const double ones =
        ir::is_signed(element) ? -1 : std::ldexp(1.0, 8 * ir::bytes_of(element)) - 1;
    return ir::binary(ir::BinaryOp::BitXor, x, number(ones, x));
  });
}

DagResult build_is_nan(const OpDef& op, const Attributes&, OperandTypes operands) {
  TRY(require_float(op, operands[0]->element));
  return elementwise(*operands[0], Scalar::Bool,
                     [](const Expr& x) { return ir::binary(ir::BinaryOp::Ne, x, x); });
}

DagResult build_is_inf(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  TRY(require_float(op, operands[0]->element));
  Reader read(op, attributes);
  const bool positive = read.flag("positive", true), negative = read.flag("negative", true);
  return elementwise(*operands[0], Scalar::Bool, [&](const Expr& x) {
    const double infinity = std::numeric_limits<double>::infinity();
    const auto is = [&](double value) { return equal(x, number(value, x)); };
    if (positive && negative) return is(infinity) || is(-infinity);
    if (positive) return is(infinity);
    return negative ? is(-infinity) : ir::binary(ir::BinaryOp::Lt, x, x);  // never
  });
}

DagResult build_cast(const OpDef& op, const Attributes& attributes, OperandTypes operands) {
  Reader read(op, attributes);
  const Scalar to = read.scalar("to");
  TRY(read.status());
  return elementwise(*operands[0], to, [](const Expr& x) { return x; });
}

constexpr OpDef row(std::string_view name,
                    DagResult (*build)(const OpDef&, const Attributes&, OperandTypes)) {
  return {name, Work::Map, 1, 1, build};
}

constexpr OpDef kOps[] = {
    row("neg", unary<Takes::Numbers, negative_of>),
    row("abs", unary<Takes::Numbers, absolute_of>),
    row("sign", unary<Takes::Numbers, sign_of>),
    row("relu", unary<Takes::Numbers, relu_of>),
    row("exp", unary<Takes::Floats, function_of<Intrinsic::Exp>>),
    row("log", unary<Takes::Floats, function_of<Intrinsic::Log>>),
    row("sqrt", unary<Takes::Floats, function_of<Intrinsic::Sqrt>>),
    row("rsqrt", unary<Takes::Floats, function_of<Intrinsic::Rsqrt>>),
    row("reciprocal", unary<Takes::Floats, reciprocal_of>),
    row("erf", unary<Takes::Floats, function_of<Intrinsic::Erf>>),
    row("tanh", unary<Takes::Floats, function_of<Intrinsic::Tanh>>),
    row("sigmoid", unary<Takes::Floats, function_of<Intrinsic::Sigmoid>>),
    row("floor", unary<Takes::Floats, function_of<Intrinsic::Floor>>),
    row("ceil", unary<Takes::Floats, ceil_of>),
    row("round", unary<Takes::Floats, function_of<Intrinsic::Round>>),
    row("sin", unary<Takes::Floats, sin_of>),
    row("cos", unary<Takes::Floats, cos_of>),
    row("tan", unary<Takes::Floats, tan_of>),
    row("asin", unary<Takes::Floats, asin_of>),
    row("acos", unary<Takes::Floats, acos_of>),
    row("atan", unary<Takes::Floats, atan_of>),
    row("sinh", unary<Takes::Floats, sinh_of>),
    row("cosh", unary<Takes::Floats, cosh_of>),
    row("asinh", unary<Takes::Floats, asinh_of>),
    row("acosh", unary<Takes::Floats, acosh_of>),
    row("atanh", unary<Takes::Floats, atanh_of>),
    row("softplus", unary<Takes::Floats, softplus_of>),
    row("softsign", unary<Takes::Floats, softsign_of>),
    row("mish", unary<Takes::Floats, mish_of>),
    row("silu", unary<Takes::Floats, silu_of>),
    row("hard_swish", unary<Takes::Floats, hard_swish_of>),
    row("leaky_relu", with_numbers),
    row("elu", with_numbers),
    row("celu", with_numbers),
    row("selu", with_numbers),
    row("hard_sigmoid", with_numbers),
    row("thresholded_relu", with_numbers),
    row("shrink", with_numbers),
    row("gelu", build_gelu),
    row("not", build_not),
    row("bit_not", build_bit_not),
    row("is_nan", build_is_nan),
    row("is_inf", build_is_inf),
    row("cast", build_cast),
};

}  // namespace

std::span<const OpDef> unary_ops() { return kOps; }

}  // namespace tilewright::graph
