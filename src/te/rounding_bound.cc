#include "te/rounding_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/inline_vector.h"
#include "ir/fold.h"
#include "te/iterations.h"

namespace tilewright::te {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();
constexpr size_t kMaxRank = 32;      // of a tensor
constexpr double kFunctionUlps = 8;  // our expansions are within 4
// The rounding errors of a long sum grow with the root of its length, not with its length (Higham
// and Mary, A new approach to probabilistic rounding error analysis, 2019): with random signs the
// error of n terms is some sqrt(n) / 6 of our units (twice the unit roundoff), so this is six
// standard deviations.
// Partial sums of terms of either sign grow like the root of the sum of squares, and so do the
// errors of the terms.
constexpr double kWander = 6, kIndependent = 3;
double growth_of(double count) { return std::min(count, 2 + std::sqrt(count)); }

double largest_of(ir::Scalar type) {
  return type == ir::Scalar::F16   ? 65504
         : type == ir::Scalar::F64 ? 0x1.fffffffffffffp1023
                                   : 0x1.fffffep127;
}

bool fits(double value, ir::Scalar type) {
  return std::isnan(value) || ir::convert(value, type) == value;
}

// True if the value is certainly infinity or NaN.
bool is_sure(Bounded x) { return x.error == 0 && !std::isfinite(x.value); }
bool is_nan(Bounded x) { return x.error == 0 && std::isnan(x.value); }
// True if the value is certainly finite, and, unless `zero`, certainly not 0.
bool is_number(Bounded x, bool zero = true) {
  return std::isfinite(x.value) && std::isfinite(x.error) && (zero || x.error < std::abs(x.value));
}

// The operations with their rounding errors, and those of flushing denormals unless they are kept.
class Arithmetic {
 public:
  explicit Arithmetic(bool denormals) : denormals_(denormals) {}

  // The largest error of a result that is flushed.
  double flushed_of(ir::Scalar type) const {
    return denormals_ || type == ir::Scalar::F16 ? 0 : ir::min_normal(type);
  }
  // The same, and that of rounding a denormal.
  double smallest_of(ir::Scalar type) const {
    const double step = type == ir::Scalar::F16   ? 0x1p-24
                        : type == ir::Scalar::F64 ? 0x1p-1074
                                                  : 0x1p-133;
    return std::max(step, flushed_of(type));
  }

  // A result in a float type; `exact`: no rounding happened in f64.
  Bounded rounded(ir::Scalar type, double value, double error, bool exact) const {
    if (std::isnan(error)) return {value, kUnknown};
    const bool kept = std::isnan(value) || denormals_ || ir::flush_denormal(value, type) == value;
    if (error == 0 && (exact || !std::isfinite(value)) && fits(value, type) && kept) {
      return {value, 0};
    }
    if (!(std::abs(value) + error < largest_of(type))) return {value, kUnknown};
    return {value, error + unit_of(type) * std::abs(value) + smallest_of(type)};
  }

  Bounded add(ir::Scalar type, Bounded a, Bounded b) const {
    const double sum = a.value + b.value;
    if (is_nan(a) || is_nan(b)) return {sum, 0};
    if ((is_sure(a) && (is_sure(b) || is_number(b))) || (is_sure(b) && is_number(a))) {
      return {sum, 0};
    }
    const double part = sum - a.value;  // Knuth's TwoSum: the rounding error of the sum
    const bool exact = (a.value - (sum - part)) + (b.value - part) == 0;
    return rounded(type, sum, a.error + b.error, exact);
  }

  Bounded multiply(ir::Scalar type, Bounded a, Bounded b) const {
    const double product = a.value * b.value;
    if (is_nan(a) || is_nan(b)) return {product, 0};
    if ((is_sure(a) && is_number(b, false)) || (is_sure(b) && is_number(a, false))) {
      return {product, 0};
    }
    double error = 0;
    if (a.error > 0) error += a.error * (std::abs(b.value) + b.error);
    if (b.error > 0) error += b.error * std::abs(a.value);
    return rounded(type, product, error, std::fma(a.value, b.value, -product) == 0);
  }

  // Never taken as exact: a quotient may be computed by a reciprocal.
  Bounded divide(ir::Scalar type, Bounded a, Bounded b) const {
    const double quotient = a.value / b.value;
    if (is_nan(a) || is_nan(b) || (is_sure(a) && is_number(b, false))) return {quotient, 0};
    if (!std::isfinite(quotient)) return {quotient, a.error + b.error > 0 ? kUnknown : 0};
    if (b.error >= std::abs(b.value)) return {quotient, kUnknown};
    const double error = (a.error + std::abs(quotient) * b.error) / (std::abs(b.value) - b.error);
    return rounded(type, quotient, error, false);
  }

  Bounded binary(ir::BinaryOp op, ir::Scalar type, Bounded a, Bounded b) const;
  Bounded call(ir::Intrinsic function, ir::Scalar type, Bounded x, Bounded y) const;
  Bounded cast(ir::Scalar to, Bounded x, ir::Scalar from) const;

 private:
  bool denormals_;
};

Bounded compare(ir::BinaryOp op, Bounded a, Bounded b) {
  using enum ir::BinaryOp;
  const double error = a.error + b.error;
  const bool decided = error == 0 || is_nan(a) || is_nan(b) || std::abs(a.value - b.value) > error;
  const double x = a.value, y = b.value;
  const bool holds = op == Eq   ? x == y
                     : op == Ne ? x != y
                     : op == Lt ? x < y
                     : op == Le ? x <= y
                     : op == Gt ? x > y
                                : x >= y;
  return {holds ? 1.0 : 0.0, decided ? 0 : kUnknown};
}

// The lesser or the greater of two floats; NaN if one of them is.
Bounded choose(ir::BinaryOp op, Bounded a, Bounded b) {
  if (is_nan(a) || is_nan(b)) return {NAN, 0};
  const double error = std::max(a.error, b.error);
  if (std::isnan(a.value) || std::isnan(b.value)) return {NAN, error};
  const double value =
      op == ir::BinaryOp::Min ? std::min(a.value, b.value) : std::max(a.value, b.value);
  const double far = op == ir::BinaryOp::Min ? -kUnknown : kUnknown;
  const bool sure = (a.error == 0 && a.value == far) || (b.error == 0 && b.value == far);
  return {value, sure ? 0 : error};
}

Bounded Arithmetic::binary(ir::BinaryOp op, ir::Scalar type, Bounded a, Bounded b) const {
  using enum ir::BinaryOp;
  if (op >= Eq && op <= Ge) return compare(op, a, b);
  if (!ir::is_float(type) && (op == Min || op == Max)) {  // the identity of I64 has no double
    const double value = op == Min ? std::min(a.value, b.value) : std::max(a.value, b.value);
    return {value, std::max(a.error, b.error)};
  }
  if (!ir::is_float(type)) {
    const double error = a.error + b.error > 0 ? kUnknown : 0;
    const auto value = ir::fold_integers(op, type, integer_of(a.value), integer_of(b.value));
    CHECK(value.has_value(), "{} of {} and {}", ir::name_of(op), a.value, b.value);
    return {static_cast<double>(*value), error};
  }
  switch (op) {
    case Add:
      return add(type, a, b);
    case Sub:
      return add(type, a, {-b.value, b.error});
    case Mul:
      return multiply(type, a, b);
    case Div:
      return divide(type, a, b);
    case Min:
    case Max:
      return choose(op, a, b);
    default:
      CHECK(false, "{} of floats", ir::name_of(op));
  }
  return {};
}

// Functions are monotone in each argument: the ends of its interval bound the result.
Bounded Arithmetic::call(ir::Intrinsic function, ir::Scalar type, Bounded x, Bounded y) const {
  using enum ir::Intrinsic;
  if (function == Not) return {x.value == 0 ? 1.0 : 0.0, x.error};
  if (function == Neg || function == Abs) {
    const bool negate = function == Neg || x.value < 0;
    if (ir::is_float(type)) return {function == Neg ? -x.value : std::abs(x.value), x.error};
    return negate ? binary(ir::BinaryOp::Sub, type, {0, 0}, x) : x;
  }
  const double value = float_function(function, x.value, y.value);
  double error = 0;
  for (const double dx : {-x.error, x.error}) {
    for (const double dy : {-y.error, y.error}) {
      if (dx == 0 && dy == 0) continue;
      const double moved = std::abs(float_function(function, x.value + dx, y.value + dy) - value);
      error = std::isfinite(moved) ? std::max(error, moved) : kUnknown;
    }
  }
  const bool whole = function == Floor || function == Round;
  if (whole || (error == 0 && !std::isfinite(value))) return {value, error};
  const Bounded once = rounded(type, value, error, false);
  if (function == Sqrt) return once;  // correctly rounded
  return {value, once.error + (kFunctionUlps - 1) * unit_of(type) * std::abs(value)};
}

Bounded Arithmetic::cast(ir::Scalar to, Bounded x, ir::Scalar from) const {
  if (!ir::is_float(to) && !ir::is_float(from)) {
    const auto value = static_cast<double>(ir::wrap_integer(integer_of(x.value), to));
    const bool wraps = ir::convert(x.value - x.error, to) != x.value - x.error ||
                       ir::convert(x.value + x.error, to) != x.value + x.error;
    return {value, x.error > 0 && wraps ? kUnknown : x.error};
  }
  if (to == ir::Scalar::Bool) {
    return {x.value != 0 ? 1.0 : 0.0, x.error > 0 && x.error >= std::abs(x.value) ? 1.0 : 0.0};
  }
  if (!ir::is_float(to)) {  // truncation is monotone
    if (std::isnan(x.error) || x.error == kUnknown) return {ir::convert(x.value, to), kUnknown};
    const double value = ir::convert(x.value, to);
    return {value, std::max(value - ir::convert(x.value - x.error, to),
                            ir::convert(x.value + x.error, to) - value)};
  }
  if (to == ir::Scalar::F32 || to == ir::Scalar::F64) return rounded(to, x.value, x.error, true);
  const double value = ir::convert(x.value, to);
  return x.error == 0 ? Bounded{value, 0} : rounded(to, value, x.error, false);
}

// The terms of a sum that may be added in any order.
class Sum {
 public:
  explicit Sum(const Arithmetic& arithmetic) : arithmetic_(arithmetic) {}

  void add(Bounded term) {
    value_ += term.value;
    if (is_sure(term)) {
      nan_ |= std::isnan(term.value) || (infinity_ != 0 && infinity_ != term.value);
      infinity_ = term.value;
      return;
    }
    error_ += term.error;
    error_squares_ += term.error * term.error;
    magnitude_ += std::abs(term.value) + term.error;
    squares_ += term.value * term.value;
    ++count_;
    if (term.value == 0 || !std::isfinite(term.value)) return;
    int exponent = 0;
    const double digits = std::ldexp(std::frexp(term.value, &exponent), 53);
    const auto bits = static_cast<uint64_t>(std::abs(digits));
    lowest_bit_ =
        std::min(lowest_bit_, std::ldexp(static_cast<double>(bits & (~bits + 1)), exponent - 53));
  }

  // Exact when every partial sum is a multiple of the lowest bit and has room in the mantissa.
  Bounded total(ir::Scalar type) const {
    if (nan_ || (infinity_ != 0 && magnitude_ < largest_of(type))) return {value_, 0};
    const double room = lowest_bit_ / (unit_of(type) / 2);
    const double flushed = arithmetic_.flushed_of(type);  // a partial sum, if it is not 0
    const bool exact = magnitude_ <= room && lowest_bit_ >= flushed;
    if (error_ == 0 && (exact || !std::isfinite(value_))) return {value_, 0};
    if (!(magnitude_ < largest_of(type))) return {value_, kUnknown};
    const double growth = growth_of(static_cast<double>(count_));
    const double largest = std::min(magnitude_, std::abs(value_) + kWander * std::sqrt(squares_));
    const double carried = std::min(error_, kIndependent * std::sqrt(error_squares_));
    const double lost = static_cast<double>(count_) * flushed;
    return {value_, carried + growth * unit_of(type) * largest + lost};
  }

 private:
  const Arithmetic& arithmetic_;
  double value_ = 0, magnitude_ = 0, squares_ = 0;
  double error_ = 0, error_squares_ = 0;
  double lowest_bit_ = kUnknown;
  double infinity_ = 0;  // among the terms; 0: none
  bool nan_ = false;     // the sum, whatever the other terms are
  int64_t count_ = 0;
};

}  // namespace

double unit_of(ir::Scalar type) {
  switch (type) {
    case ir::Scalar::F16:
      return 0x1p-10;
    case ir::Scalar::BF16:
      return 0x1p-7;
    case ir::Scalar::F32:
      return 0x1p-23;
    default:
      return 0x1p-52;
  }
}

// Evaluates expressions of one operator with the current values of its variables.
class RoundingBound::Frame {
 public:
  explicit Frame(RoundingBound& owner) : owner_(owner), arithmetic_(owner.denormals_) {}

  size_t bind(const ir::Expr& var, Bounded value) {
    values_.emplace_back(var.as<ir::Var>()->id, value);
    return values_.size() - 1;
  }
  void set(size_t slot, Bounded value) { values_[slot].second = value; }

  Bounded eval(const ir::Expr& expr) {
    const ir::Scalar type = expr.type().scalar;
    switch (expr.kind()) {
      case ir::ExprKind::IntImm:
        return {static_cast<double>(expr.as<ir::IntImm>()->value), 0};
      case ir::ExprKind::FloatImm:
        return arithmetic_.rounded(type, expr.as<ir::FloatImm>()->value, 0, true);
      case ir::ExprKind::Var:
        return lookup(expr.as<ir::Var>()->id);
      case ir::ExprKind::Cast: {
        const ir::Expr& value = expr.as<ir::Cast>()->value;
        return arithmetic_.cast(type, eval(value), value.type().scalar);
      }
      case ir::ExprKind::Binary: {
        const auto* node = expr.as<ir::Binary>();
        return arithmetic_.binary(node->op, node->a.type().scalar, eval(node->a), eval(node->b));
      }
      case ir::ExprKind::Select: {
        const auto* node = expr.as<ir::Select>();
        const Bounded condition = eval(node->condition);
        Bounded taken = eval(condition.value != 0 ? node->if_true : node->if_false);
        if (condition.error == 0) return taken;
        const Bounded other = eval(condition.value != 0 ? node->if_false : node->if_true);
        if (std::isnan(taken.value) && std::isnan(other.value)) return taken;
        const double apart = std::abs(other.value - taken.value) + other.error;
        taken.error = std::isnan(apart) ? kUnknown : std::max(taken.error, apart);
        return taken;
      }
      case ir::ExprKind::Call: {
        const auto* node = expr.as<ir::Call>();
        const Bounded second = node->args.size() > 1 ? eval(node->args[1]) : Bounded{};
        return arithmetic_.call(node->function, type, eval(node->args[0]), second);
      }
      case ir::ExprKind::Load:
        return load(*expr.as<ir::Load>());
      default:
        CHECK(false, "an expression of the loop IR in a Dag");
    }
    return {};
  }

 private:
  Bounded load(const ir::Load& node) {
    InlineVector<int64_t, kMaxRank> indices;  // loads are evaluated millions of times
    for (const ir::Expr& index : node.indices) {
      indices.push_back(integer_of(eval(index).value));
    }
    return owner_.element(node.buffer, {indices.begin(), indices.size()});
  }

  Bounded lookup(ir::VarId id) const {
    const auto found =
        std::ranges::find(values_, id, [](const auto& entry) { return entry.first; });
    CHECK(found != values_.end(), "variable {} is not bound", id);
    return found->second;
  }

  RoundingBound& owner_;
  Arithmetic arithmetic_;
  std::vector<std::pair<ir::VarId, Bounded>> values_;
};

RoundingBound::RoundingBound(const Dag& dag, InputReader inputs, bool denormals)
    : dag_(dag), inputs_(std::move(inputs)), denormals_(denormals), memo_(dag.tensors().size()) {}

Bounded RoundingBound::element(TensorId tensor, std::span<const int64_t> indices) {
  const Tensor& info = dag_.tensor(tensor);
  int64_t offset = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    const int64_t extent = info.shape[d].high;
    if (indices[d] < 0 || indices[d] >= extent) return {0, kUnknown};  // of an arm not taken
    offset = offset * extent + indices[d];
  }
  const Op& op = dag_.op(info.op);
  if (op.kind == OpKind::Placeholder) {
    const double value = inputs_(tensor, offset);
    return {denormals_ ? value : ir::flush_denormal(value, info.element), 0};
  }
  if (const auto found = memo_[tensor].find(offset); found != memo_[tensor].end()) {
    return found->second;
  }
  Frame frame(*this);
  for (size_t a = 0; a < op.axes.size(); ++a) {
    frame.bind(op.axes[a].var, {static_cast<double>(indices[a]), 0});
  }
  std::vector<Bounded> values;
  if (op.reduction) {
    values = reduce(op, frame);
  } else {
    for (const ir::Expr& value : op.body) values.push_back(frame.eval(value));
  }
  for (size_t k = 0; k < values.size(); ++k) {
    const ir::Scalar to = dag_.tensor(op.outputs[k]).element;
    memo_[op.outputs[k]][offset] =
        Arithmetic(denormals_).cast(to, values[k], op.body[k].type().scalar);
  }
  return memo_[tensor][offset];
}

std::vector<Bounded> RoundingBound::reduce(const Op& op, Frame& frame) {
  const Reduction& reduction = *op.reduction;
  const ir::Scalar type = op.body[0].type().scalar;
  const auto simple = reduction.simple_op();
  const bool adds = simple == ir::BinaryOp::Add && ir::is_float(type);
  std::vector<size_t> axis_slots, lhs_slots, rhs_slots;
  for (const Axis& axis : op.reduce_axes) axis_slots.push_back(frame.bind(axis.var, {}));
  std::vector<Bounded> folded;  // begins with the first elements: identities may be infinite
  for (size_t k = 0; k < op.body.size(); ++k) {
    lhs_slots.push_back(frame.bind(reduction.lhs[k], {}));
    rhs_slots.push_back(frame.bind(reduction.rhs[k], {}));
  }
  const Arithmetic arithmetic(denormals_);
  Sum sum(arithmetic);
  std::vector<int64_t> position(op.reduce_axes.size());
  std::vector<Bounded> elements(op.body.size());
  const auto changed = [&](size_t axis, int64_t value) {
    frame.set(axis_slots[axis], {static_cast<double>(value), 0});
  };
  while (true) {
    for (size_t k = 0; k < elements.size(); ++k) elements[k] = frame.eval(op.body[k]);
    if (adds) {
      sum.add(elements[0]);
    } else if (folded.empty()) {
      folded = elements;
    } else {
      for (size_t k = 0; k < elements.size(); ++k) {
        frame.set(lhs_slots[k], folded[k]);
        frame.set(rhs_slots[k], elements[k]);
      }
      for (size_t k = 0; k < folded.size(); ++k) folded[k] = frame.eval(reduction.combine[k]);
    }
    if (!next_iteration(position, op.reduce_axes, changed)) break;
  }
  if (adds) return {sum.total(type)};
  return folded;
}

}  // namespace tilewright::te
