#include "oracle/value_analysis.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "ir/equal.h"
#include "ir/visit.h"
#include "te/iterations.h"

namespace tilewright::oracle {
namespace {

bool reads_tensor(const ir::Expr& expr) {
  bool found = expr.kind() == ir::ExprKind::Load;
  ir::for_each_child(expr, [&](const ir::Expr& child) { found |= reads_tensor(child); });
  return found;
}

class Analyser {
 public:
  Analyser(const te::Dag& dag, ValueAnalysis& result) : dag_(dag), result_(result) {}

  void run(const te::Op& op) {
    variables_.clear();
    for (const te::Axis& axis : op.axes) bind_axis(axis);
    for (const te::Axis& axis : op.reduce_axes) bind_axis(axis);
    std::vector<ValueSet> values;
    values.reserve(op.body.size());
    for (const ir::Expr& body : op.body) values.push_back(eval(body));
    if (op.reduction) values = fold(op, std::move(values));
    for (size_t k = 0; k < values.size(); ++k) {
      const ir::Scalar stored = dag_.tensor(op.outputs[k]).element;
      result_.tensors[op.outputs[k]] = noted([&](bool& hazard) {
        return cast_set(stored, values[k], op.body[k].type().scalar, hazard);
      });
    }
  }

 private:
  void bind_axis(const te::Axis& axis) {
    variables_.emplace_back(
        axis.id(),
        ValueSet{
            .low = 0, .high = static_cast<double>(axis.extent.high - 1), .grid = 0, .exact = true});
  }

  // Calls f(hazard) and counts the hazard.
  template <class F>
  ValueSet noted(const F& f) {
    bool hazard = false;
    ValueSet set = f(hazard);
    result_.hazards += hazard ? 1 : 0;
    return set;
  }

  ValueSet eval(const ir::Expr& expr) {
    const ir::Scalar type = expr.type().scalar;
    switch (expr.kind()) {
      case ir::ExprKind::IntImm:
        return constant_set(static_cast<double>(expr.as<ir::IntImm>()->value));
      case ir::ExprKind::FloatImm:
        return constant_set(expr.as<ir::FloatImm>()->value);
      case ir::ExprKind::Var:
        return lookup(expr.as<ir::Var>()->id);
      case ir::ExprKind::Cast: {
        const ir::Expr& value = expr.as<ir::Cast>()->value;
        const ValueSet x = eval(value);
        return noted([&](bool& hazard) { return cast_set(type, x, value.type().scalar, hazard); });
      }
      case ir::ExprKind::Binary: {
        const auto* node = expr.as<ir::Binary>();
        const ValueSet a = eval(node->a), b = eval(node->b);
        const bool same = ir::equal(node->a, node->b);
        return noted([&](bool& hazard) {
          return binary_set(node->op, node->a.type().scalar, a, b, same, hazard);
        });
      }
      case ir::ExprKind::Select: {
        const auto* node = expr.as<ir::Select>();
        const ValueSet condition = eval(node->condition);
        ValueSet either = join(eval(node->if_true), eval(node->if_false));
        either.exact &= condition.exact;
        return either;
      }
      case ir::ExprKind::Call: {
        const auto* node = expr.as<ir::Call>();
        const ValueSet x = eval(node->args[0]);
        const ValueSet y = node->args.size() > 1 ? eval(node->args[1]) : ValueSet{};
        return noted([&](bool& hazard) { return call_set(node->function, type, x, y, hazard); });
      }
      case ir::ExprKind::Load:
        return load(*expr.as<ir::Load>());
      default:
        CHECK(false, "an expression of the loop IR in a Dag");
    }
    return {};
  }

  ValueSet load(const ir::Load& node) {
    ValueSet element = result_.tensors[node.buffer];
    for (size_t d = 0; d < node.indices.size(); ++d) {
      if (!reads_tensor(node.indices[d])) continue;
      const ValueSet index = eval(node.indices[d]);
      const auto extent = static_cast<double>(dag_.tensor(node.buffer).shape[d].high);
      result_.in_bounds &= index.low >= 0 && index.high < extent;
      element.exact &= index.exact;
    }
    return element;
  }

  std::vector<ValueSet> fold(const te::Op& op, std::vector<ValueSet> values) {
    if (const auto simple = op.reduction->simple_op()) {
      const double count = te::trip_count(op.reduce_axes);
      const ir::Scalar type = op.body[0].type().scalar;
      const ValueSet folded =
          noted([&](bool& hazard) { return fold_set(*simple, type, values[0], count, hazard); });
      const bool sums = *simple == ir::BinaryOp::Add || *simple == ir::BinaryOp::Mul;
      if (sums && ir::is_float(type)) ++(folded.exact ? result_.exact_sums : result_.inexact_sums);
      return {folded};
    }
    return fold_tuple(*op.reduction, std::move(values));
  }

  // The closure of the elements under `combine`, if a few iterations reach it.
  std::vector<ValueSet> fold_tuple(const te::Reduction& reduction, std::vector<ValueSet> values) {
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds; ++round) {
      const size_t bound = variables_.size();
      for (size_t k = 0; k < values.size(); ++k) {
        variables_.emplace_back(reduction.lhs[k].as<ir::Var>()->id, values[k]);
        variables_.emplace_back(reduction.rhs[k].as<ir::Var>()->id, values[k]);
      }
      std::vector<ValueSet> folded;
      folded.reserve(values.size());
      for (size_t k = 0; k < values.size(); ++k) {
        folded.push_back(join(values[k], eval(reduction.combine[k])));
      }
      variables_.resize(bound);
      if (folded == values) return values;
      values = std::move(folded);
    }
    ++result_.inexact_sums;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return std::vector<ValueSet>(values.size(), {-kInfinity, kInfinity, 0, false});
  }

  ValueSet lookup(ir::VarId id) const {
    const auto found =
        std::ranges::find(variables_, id, [](const auto& entry) { return entry.first; });
    CHECK(found != variables_.end(), "variable {} is not bound", id);
    return found->second;
  }

  const te::Dag& dag_;
  ValueAnalysis& result_;
  std::vector<std::pair<ir::VarId, ValueSet>> variables_;
};

}  // namespace

ValueAnalysis analyze_values(const te::Dag& dag, const std::vector<ValueSet>& inputs) {
  ValueAnalysis result;
  result.tensors = inputs;
  result.tensors.resize(dag.tensors().size());
  Analyser analyzer(dag, result);
  for (const te::Op& op : dag.ops()) {
    if (op.kind != te::OpKind::Placeholder) analyzer.run(op);
  }
  for (const te::TensorId output : dag.outputs()) result.exact &= result.tensors[output].exact;
  return result;
}

}  // namespace tilewright::oracle
