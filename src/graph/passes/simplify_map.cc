// Simplifications of elementwise nodes.
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/passes/constant_math.h"
#include "graph/passes/simplify_rules.h"

namespace tilewright::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_all(const Simplification& s, ValueId value, double number) {
  const Constant& known = s.rewrite.constant(value);
  return !known.empty() && all_equal(known, number);
}

// A scalar. A bias that happens to be all zeros stays: the kernels of a model depend on its
// operators and shapes, not on the values of its weights, so that records apply to other weights.
bool is_number(const Simplification& s, ValueId value, double number) {
  return s.rewrite.scalar(value) == number;
}

// (x + a) + b -> x + (a + b), the same for products.
Result<ValueId> regroup(const Simplification& s) {
  if (!s.permissions.reassociate || !s.is_float() || s.in.size() != 2) return kNone;
  const bool first = !s.rewrite.constant(s.in[0]).empty();
  const ValueId outer = s.in[first ? 0 : 1];
  const ValueId inner_value = s.in[first ? 1 : 0];
  const Node* inner = s.rewrite.made_by(inner_value, s.node.op);
  if (s.rewrite.constant(outer).empty() || inner == nullptr || !s.rewrite.read_once(inner_value)) {
    return kNone;
  }
  const auto parts = with_constant(s.rewrite, *inner);
  if (!parts) return kNone;
  const Constant a = s.rewrite.constant(parts->constant);
  const Constant b = s.rewrite.constant(outer);
  const TensorType both{.element = s.type.element,
                        .shape = broadcast_shape(a.type().shape, b.type().shape)};
  if (both.elements() > std::max(a.type().elements(), b.type().elements())) return kNone;
  const Constant merged = combined(a, b, s.node.op == "add" ? Combine::Add : Combine::Mul);
  if (!all_finite(merged)) return kNone;
  return s.rewrite.add(s.node.op, {parts->value, s.rewrite.add_constant(merged)});
}

Result<ValueId> simplify_add(const Simplification& s) {
  if (s.in.size() == 1) return s.in[0];
  if (s.in.size() != 2) return kNone;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (is_number(s, s.in[i], 0) && s.fits(s.in[1 - i])) return s.in[1 - i];
  }
  return regroup(s);
}

Result<ValueId> simplify_mul(const Simplification& s) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (is_number(s, s.in[i], 1) && s.fits(s.in[1 - i])) return s.in[1 - i];
  }
  return regroup(s);
}

Result<ValueId> simplify_sub(const Simplification& s) {
  if (is_number(s, s.in[1], 0) && s.fits(s.in[0])) return s.in[0];
  const Constant known = s.rewrite.constant(s.in[1]);
  if (known.empty() || !s.is_float()) return kNone;
  return s.rewrite.add("add", {s.in[0], s.rewrite.add_constant(scaled(known, -1))});  // exact
}

bool all_powers_of_two(const Constant& constant) {
  for (int64_t i = 0; i < constant.type().elements(); ++i) {
    int exponent = 0;
    const double fraction = std::frexp(constant.number(i), &exponent);
    if (std::abs(fraction) != 0.5 || std::abs(exponent) > 14) return false;
  }
  return true;
}

Result<ValueId> simplify_div(const Simplification& s) {
  if (is_number(s, s.in[1], 1) && s.fits(s.in[0])) return s.in[0];
  const Constant known = s.rewrite.constant(s.in[1]);
  if (!s.is_float()) return kNone;
  if (known.empty()) {
    return is_number(s, s.in[0], 1) && s.fits(s.in[1]) ? s.rewrite.add("reciprocal", {s.in[1]})
                                                       : Result<ValueId>(kNone);
  }
  if (!all_powers_of_two(known) && !s.permissions.reassociate) return kNone;
  std::vector<double> numbers = numbers_of(known);
  for (double& number : numbers) {
    number = 1 / number;
    // If 1 / c overflows, the quotient and the product differ.
    if (!std::isfinite(number) || !std::isnormal(static_cast<float>(number))) return kNone;
  }
  const ValueId factor = s.rewrite.add_constant(of_numbers(known.type(), numbers));
  return s.rewrite.add("mul", {s.in[0], factor});
}

Result<ValueId> simplify_pow(const Simplification& s) {
  const auto exponent = s.rewrite.scalar(s.in[1]);
  if (!exponent || !s.is_float() || !s.fits(s.in[0])) return kNone;
  if (*exponent == 1) return s.in[0];
  if (*exponent == 2) return s.rewrite.add("mul", {s.in[0], s.in[0]});
  if (*exponent == 0.5) return s.rewrite.add("sqrt", {s.in[0]});
  if (*exponent == -1) return s.rewrite.add("reciprocal", {s.in[0]});
  if (*exponent != 3) return kNone;
  const auto square = TRY(s.rewrite.add("mul", {s.in[0], s.in[0]}));
  return s.rewrite.add("mul", {square, s.in[0]});
}

Result<ValueId> simplify_clip(const Simplification& s) {
  const ValueId low_value = s.in.size() > 1 ? s.in[1] : kNone;
  const ValueId high_value = s.in.size() > 2 ? s.in[2] : kNone;
  const auto low = low_value == kNone ? -kInfinity : s.rewrite.scalar(low_value);
  const auto high = high_value == kNone ? kInfinity : s.rewrite.scalar(high_value);
  if (!low || !high || !s.is_float()) return kNone;
  // Exporters write the largest f32 for infinity.
  const bool no_high = *high >= static_cast<double>(std::numeric_limits<float>::max());
  const bool no_low = *low <= static_cast<double>(std::numeric_limits<float>::lowest());
  if (no_low && no_high) return s.in[0];
  if (*low == 0 && no_high) return s.rewrite.add("relu", {s.in[0]});
  return kNone;
}

Result<ValueId> simplify_max(const Simplification& s) {
  if (s.in.size() == 1) return s.in[0];
  if (s.in.size() != 2 || !s.is_float()) return kNone;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (s.node.op == "max" && is_number(s, s.in[i], 0) && s.fits(s.in[1 - i])) {
      return s.rewrite.add("relu", {s.in[1 - i]});
    }
    const Node* below = s.rewrite.made_by(s.in[1 - i], "relu");
    if (s.node.op == "min" && below != nullptr && s.rewrite.scalar(s.in[i]).value_or(-1) >= 0) {
      const ValueId x = below->inputs[0];
      if (!s.fits(x)) return kNone;
      const ValueId zero = s.rewrite.add_constant(Constant::of_number(0, s.type.element));
      const auto top = TRY(s.rewrite.reshape(s.in[i], {}));
      return s.rewrite.add("clip", {x, zero, top});
    }
  }
  return kNone;
}

// Idempotent functions, and involutions.
Result<ValueId> simplify_repeated(const Simplification& s) {
  const Node* before = s.rewrite.made_by(s.in[0], s.node.op);
  if (before == nullptr) return kNone;
  return s.node.op == "relu" || s.node.op == "abs" ? s.in[0] : before->inputs[0];
}

// Whether every value of `a` is a value of `b`.
bool holds(ir::Scalar b, ir::Scalar a) {
  if (a == b || a == ir::Scalar::Bool) return true;
  if (ir::is_float(a)) {
    return ir::is_float(b) && ir::bytes_of(b) > ir::bytes_of(a);
  }
  const bool keeps_sign = ir::is_signed(b) || !ir::is_signed(a);
  return ir::is_integer(b) && keeps_sign && ir::bytes_of(b) > ir::bytes_of(a);
}

Result<ValueId> simplify_cast(const Simplification& s) {
  if (s.rewrite.type(s.in[0]).element == s.type.element) return s.in[0];
  const Node* before = s.rewrite.made_by(s.in[0], "cast");
  if (before == nullptr) return kNone;
  const ValueId x = before->inputs[0];
  if (!holds(s.rewrite.type(s.in[0]).element, s.rewrite.type(x).element)) return kNone;
  if (s.rewrite.type(x).element == s.type.element) return x;
  return s.rewrite.add("cast", {x}, s.node.attributes);
}

Result<ValueId> simplify_where(const Simplification& s) {
  if (s.in[1] == s.in[2] && s.fits(s.in[1])) return s.in[1];
  if (is_all(s, s.in[0], 1) && s.fits(s.in[1])) return s.in[1];
  if (is_all(s, s.in[0], 0) && s.fits(s.in[2])) return s.in[2];
  return kNone;
}

// and(x, true), or(x, false): x, broadcast if the constant is larger.
Result<ValueId> simplify_logic(const Simplification& s) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (!is_all(s, s.in[i], s.node.op == "and" ? 1 : 0)) continue;
    if (s.fits(s.in[1 - i])) return s.in[1 - i];
    return s.rewrite.add("broadcast", {s.in[1 - i]}, {{"shape", s.type.shape}});
  }
  return kNone;
}

struct MapRule {
  std::string_view op;
  Result<ValueId> (*rule)(const Simplification& s);
};

constexpr std::array kMapRules = {
    MapRule{"abs", simplify_repeated}, MapRule{"add", simplify_add},
    MapRule{"and", simplify_logic},    MapRule{"or", simplify_logic},
    MapRule{"cast", simplify_cast},    MapRule{"clip", simplify_clip},
    MapRule{"div", simplify_div},      MapRule{"max", simplify_max},
    MapRule{"min", simplify_max},      MapRule{"mul", simplify_mul},
    MapRule{"neg", simplify_repeated}, MapRule{"not", simplify_repeated},
    MapRule{"pow", simplify_pow},      MapRule{"relu", simplify_repeated},
    MapRule{"sub", simplify_sub},      MapRule{"where", simplify_where},
};

}  // namespace

Result<ValueId> simplify_map(const Simplification& s) {
  for (const MapRule& rule : kMapRules) {
    if (rule.op == s.node.op) return rule.rule(s);
  }
  return kNone;
}

}  // namespace tilewright::graph
