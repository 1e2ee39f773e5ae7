#include "te/eval.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "ir/fold.h"
#include "te/iterations.h"

namespace tilewright::te {
namespace {

// One binary operator on numbers of type `type`; integers wrap, F32 is kept in f64.
double apply_binary(ir::BinaryOp op, double a, double b, ir::Scalar type) {
  if (ir::is_float(type)) return apply_floats(op, a, b);
  return static_cast<double>(apply_integers(op, type, integer_of(a), integer_of(b)));
}

double apply_call(const ir::Call& call, std::span<const double> args) {
  using enum ir::Intrinsic;
  const double x = args[0];
  const bool integer = ir::is_integer(call.type);
  switch (call.function) {
    case Neg:
      return integer ? apply_binary(ir::BinaryOp::Sub, 0, x, call.type.scalar) : -x;
    case Abs:
      return integer && x < 0 ? apply_binary(ir::BinaryOp::Sub, 0, x, call.type.scalar)
                              : std::fabs(x);
    case Not:
      return x == 0;
    case Ldexp:
      return std::ldexp(x, static_cast<int>(args[1]));
    case Bitcast:
      CHECK(false, "bitcast has no meaning before lowering");
    default:
      return float_function(call.function, x, args.size() > 1 ? args[1] : 0);
  }
  return 0;
}

double cast_to(ir::Scalar to, double value, ir::Scalar from) {
  if (to == ir::Scalar::F32 || to == ir::Scalar::F64) return value;  // kept in f64
  if (ir::is_float(from) || ir::is_float(to)) return ir::convert(value, to);
  return static_cast<double>(ir::wrap_integer(integer_of(value), to));
}

}  // namespace

int64_t integer_of(double value) { return ir::convert_to_integer(value, ir::Scalar::I64); }

int64_t apply_integers(ir::BinaryOp op, ir::Scalar type, int64_t a, int64_t b) {
  if (const auto value = ir::fold_integers(op, type, a, b)) return *value;
  const auto bits = static_cast<uint64_t>(b) & 63;
  if (op == ir::BinaryOp::ShiftRight) return a >> bits;
  CHECK(op == ir::BinaryOp::ShiftLeft, "{} {} {} has no value", a, ir::name_of(op), b);
  return ir::wrap_integer(static_cast<int64_t>(static_cast<uint64_t>(a) << bits), type);
}

double apply_floats(ir::BinaryOp op, double a, double b) {
  using enum ir::BinaryOp;
  switch (op) {
    case Add:
      return a + b;
    case Sub:
      return a - b;
    case Mul:
      return a * b;
    case Div:
      return a / b;
    case Min:
      return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
    case Max:
      return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
    case Eq:
      return a == b;
    case Ne:
      return a != b;
    case Lt:
      return a < b;
    case Le:
      return a <= b;
    case Gt:
      return a > b;
    case Ge:
      return a >= b;
    default:
      CHECK(false, "{} of floats", ir::name_of(op));
  }
}

double float_function(ir::Intrinsic function, double x, double y) {
  using enum ir::Intrinsic;
  switch (function) {
    case Floor:
      return std::floor(x);
    case Round:
      return std::nearbyint(x);
    case Sqrt:
      return std::sqrt(x);
    case Exp:
      return std::exp(x);
    case Log:
      return std::log(x);
    case Tanh:
      return std::tanh(x);
    case Erf:
      return std::erf(x);
    case Sigmoid:
      return 1 / (1 + std::exp(-x));
    case Rsqrt:
      return 1 / std::sqrt(x);
    case Pow:
      return std::pow(x, y);
    default:
      CHECK(false, "{} has no bound", ir::name_of(function));
  }
  return 0;
}

// Evaluates expressions of one operator with the current values of its variables.
class Evaluator::Frame {
 public:
  explicit Frame(Evaluator& evaluator) : evaluator_(evaluator) {}

  size_t bind(const ir::Expr& var, double value) {
    values_.emplace_back(var.as<ir::Var>()->id, value);
    return values_.size() - 1;
  }
  void set(size_t slot, double value) { values_[slot].second = value; }

  double eval(const ir::Expr& expr) {
    switch (expr.kind()) {
      case ir::ExprKind::IntImm:
        return static_cast<double>(expr.as<ir::IntImm>()->value);
      case ir::ExprKind::FloatImm:
        return expr.as<ir::FloatImm>()->value;
      case ir::ExprKind::Var:
        return lookup(expr.as<ir::Var>()->id);
      case ir::ExprKind::Cast: {
        const ir::Expr& value = expr.as<ir::Cast>()->value;
        return cast_to(expr.type().scalar, eval(value), value.type().scalar);
      }
      case ir::ExprKind::Binary: {
        const auto* node = expr.as<ir::Binary>();
        return apply_binary(node->op, eval(node->a), eval(node->b), node->a.type().scalar);
      }
      case ir::ExprKind::Fma: {
        const auto* node = expr.as<ir::Fma>();
        return eval(node->a) * eval(node->b) + eval(node->c);
      }
      case ir::ExprKind::Select: {
        const auto* node = expr.as<ir::Select>();
        return eval(node->condition) != 0 ? eval(node->if_true) : eval(node->if_false);
      }
      case ir::ExprKind::Call: {
        const auto* node = expr.as<ir::Call>();
        std::vector<double> args;
        args.reserve(node->args.size());
        for (const ir::Expr& arg : node->args) args.push_back(eval(arg));
        return apply_call(*node, args);
      }
      case ir::ExprKind::Load: {
        const auto* node = expr.as<ir::Load>();
        std::vector<int64_t> indices;
        indices.reserve(node->indices.size());
        for (const ir::Expr& index : node->indices) {
          indices.push_back(integer_of(eval(index)));
        }
        return evaluator_.element(node->buffer, indices);
      }
      default:
        CHECK(false, "a vector expression in a Dag");
    }
    return 0;
  }

 private:
  double lookup(ir::VarId id) const {
    const auto found =
        std::ranges::find(values_, id, [](const auto& entry) { return entry.first; });
    CHECK(found != values_.end(), "variable {} is not bound", id);
    return found->second;
  }

  Evaluator& evaluator_;
  std::vector<std::pair<ir::VarId, double>> values_;  // few: a search is faster than hashing
};

Evaluator::Evaluator(const Dag& dag, InputReader inputs, bool denormals)
    : dag_(dag), inputs_(std::move(inputs)), denormals_(denormals), memo_(dag.tensors().size()) {
  for (const Tensor& tensor : dag.tensors()) {
    for (const Extent& extent : tensor.shape) {
      CHECK(extent.is_constant(), "{} has a symbolic extent", tensor.name.text());
    }
  }
}

double Evaluator::element(TensorId tensor, std::span<const int64_t> indices) {
  const Tensor& info = dag_.tensor(tensor);
  CHECK(indices.size() == info.shape.size(), "{} has {} dimensions, not {}", info.name.text(),
        info.shape.size(), indices.size());
  int64_t offset = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    CHECK(0 <= indices[d] && indices[d] < info.shape[d].high, "{}: index {} of dimension {} is {}",
          info.name.text(), indices[d], d, info.shape[d].high);
    offset = offset * info.shape[d].high + indices[d];
  }
  const Op& op = dag_.op(info.op);
  if (op.kind == OpKind::Placeholder) return flushed(inputs_(tensor, offset), info.element);
  CHECK(op.kind == OpKind::Compute, "{} cannot be evaluated", op.name.text());
  if (const auto found = memo_[tensor].find(offset); found != memo_[tensor].end()) {
    return found->second;
  }
  const std::vector<double> values = op.reduction ? reduce(op, indices) : compute(op, indices);
  for (size_t k = 0; k < values.size(); ++k) {
    const ir::Scalar element = dag_.tensor(op.outputs[k]).element;
    memo_[op.outputs[k]][offset] =
        flushed(cast_to(element, values[k], op.body[k].type().scalar), element);
  }
  return memo_[tensor][offset];
}

std::vector<double> Evaluator::compute(const Op& op, std::span<const int64_t> indices) {
  Frame frame(*this);
  for (size_t a = 0; a < op.axes.size(); ++a) {
    frame.bind(op.axes[a].var, static_cast<double>(indices[a]));
  }
  std::vector<double> values;
  values.reserve(op.body.size());
  for (const ir::Expr& value : op.body) values.push_back(frame.eval(value));
  return values;
}

std::vector<double> Evaluator::reduce(const Op& op, std::span<const int64_t> indices) {
  const Reduction& reduction = *op.reduction;
  const size_t width = op.body.size();
  Frame frame(*this);
  for (size_t a = 0; a < op.axes.size(); ++a) {
    frame.bind(op.axes[a].var, static_cast<double>(indices[a]));
  }
  std::vector<size_t> axis_slots, lhs_slots, rhs_slots;
  for (const Axis& axis : op.reduce_axes) axis_slots.push_back(frame.bind(axis.var, 0));
  std::vector<double> folded;
  for (size_t k = 0; k < width; ++k) {
    folded.push_back(frame.eval(reduction.identity[k]));
    lhs_slots.push_back(frame.bind(reduction.lhs[k], 0));
    rhs_slots.push_back(frame.bind(reduction.rhs[k], 0));
  }
  std::vector<int64_t> position(op.reduce_axes.size());
  const auto simple = reduction.simple_op();
  const ir::Scalar type = op.body[0].type().scalar;
  const auto changed = [&](size_t axis, int64_t value) {
    frame.set(axis_slots[axis], static_cast<double>(value));
  };
  while (true) {
    if (simple) {
      folded[0] = apply_binary(*simple, folded[0], frame.eval(op.body[0]), type);
    } else {
      for (size_t k = 0; k < width; ++k) {
        frame.set(rhs_slots[k], frame.eval(op.body[k]));
        frame.set(lhs_slots[k], folded[k]);
      }
      for (size_t k = 0; k < width; ++k) folded[k] = frame.eval(reduction.combine[k]);
    }
    if (!next_iteration(position, op.reduce_axes, changed)) return folded;
  }
}

}  // namespace tilewright::te
