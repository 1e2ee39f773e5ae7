#include "oracle/input_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "base/check.h"
#include "ir/visit.h"
#include "oracle/value_analysis.h"

namespace tilewright::oracle {
namespace {

constexpr double kMinIntegers = 1000;  // range of integer types, around 0
constexpr double kExtremeShare = 0.5;  // share of the elements at the end of a dimension
// Share of zeros in {-1, 0, 1}: more would hide terms missing from a sum.
constexpr double kZeroShare = 0.125;

// How the elements of integer tensors are used: as indices, in comparisons with an axis, as
// divisors.
class Uses : public ir::Visitor {
 public:
  struct Use {
    // Extent of the dimension it indexes or of the axis it is compared with.
    std::optional<int64_t> below;
    bool divides = false;
  };

  explicit Uses(const te::Dag& dag) : dag_(dag) {
    for (const te::Op& op : dag.ops()) {
      op_ = &op;
      for (const ir::Expr& body : op.body) visit(body);
      multiplies_ |= op.reduction && op.reduction->simple_op() == ir::BinaryOp::Mul;
    }
  }

  bool multiplies() const { return multiplies_; }  // a 0 would hide all other factors

  Use of(te::TensorId tensor) const {
    const auto found = uses_.find(tensor);
    return found == uses_.end() ? Use{} : found->second;
  }

  using ir::Visitor::visit;
  void visit(const ir::Expr& expr) override {
    if (const auto* load = expr.as<ir::Load>()) {
      for (size_t d = 0; d < load->indices.size(); ++d) {
        limit(load->indices[d], dag_.tensor(load->buffer).shape[d].high);
      }
    }
    if (const auto* binary = expr.as<ir::Binary>()) note(*binary);
    ir::Visitor::visit(expr);
  }

 private:
  void note(const ir::Binary& binary) {
    using enum ir::BinaryOp;
    if (!ir::is_integer(binary.a.type())) return;
    if (binary.op == Div || binary.op == Mod) {
      for_each_load(binary.b, [&](te::TensorId by) { uses_[by].divides = true; });
    }
    if (binary.op < Eq || binary.op > Ge) return;
    for (const te::Axis& axis : op_->axes) {
      if (ir::uses_var(binary.b, axis.id())) limit(binary.a, axis.extent.high);
      if (ir::uses_var(binary.a, axis.id())) limit(binary.b, axis.extent.high);
    }
  }

  void limit(const ir::Expr& expr, int64_t extent) {
    for_each_load(expr, [&](te::TensorId tensor) {
      std::optional<int64_t>& below = uses_[tensor].below;
      below = std::min(below.value_or(extent), extent);
    });
  }

  template <class F>
  static void for_each_load(const ir::Expr& expr, const F& f) {
    if (const auto* load = expr.as<ir::Load>()) f(load->buffer);
    ir::for_each_child(expr, [&](const ir::Expr& child) { for_each_load(child, f); });
  }

  const te::Dag& dag_;
  const te::Op* op_ = nullptr;
  std::map<te::TensorId, Use> uses_;
  bool multiplies_ = false;
};

ValueSet set_of(const InputRange& range) {
  return {.low = std::min(range.low, range.low * range.extreme),
          .high = std::max(range.high, range.high * range.extreme),
          .grid = 0,
          .exact = range.whole};
}

class Planner {
 public:
  explicit Planner(const Workload& workload) : workload_(workload), uses_(*workload.dag) {}

  Result<InputPlan> plan() const {
    // Tries the largest integers first.
    for (const double limit : {8388607., 65535., 2047., 127., 64., 32., 16., 8., 4., 3., 2., 1.}) {
      InputPlan plan = whole_numbers(limit);
      const ValueAnalysis analysis = analyze(plan);
      plan.exact = analysis.exact && analysis.hazards == 0 && analysis.in_bounds;
      if (plan.exact) return plan;
    }
    InputPlan plan = fractions();
    avoid_hazards(plan);
    make_ends_extreme(plan);
    prefer_exact_sums(plan);
    if (!analyze(plan).in_bounds) {
      return fail(ErrorKind::Unsupported,
                  workload_.text +
                      ": no inputs can be drawn for it: an index that is computed "
                      "from them may leave its tensor");
    }
    return plan;
  }

 private:
  ir::Scalar type_of(size_t operand) const {
    return workload_.dag->tensor(workload_.operands[operand].tensor).element;
  }

  // The range of an integer tensor: by its use, otherwise small integers around 0.
  InputRange integers(size_t operand, double limit) const {
    const Uses::Use use = uses_.of(workload_.operands[operand].tensor);
    const ValueSet all = type_set(type_of(operand));
    const double wide = std::max(limit, kMinIntegers);
    InputRange range{.low = std::max(all.low, -wide),
                     .high = std::min(all.high, wide),
                     .whole = true,
                     .zero = !use.divides && !uses_.multiplies()};
    if (use.divides) range.low = std::max(range.low, 1.);
    if (use.below) {
      range.low = use.divides ? 1 : 0;
      range.high = std::clamp(static_cast<double>(*use.below - 1), range.low, all.high);
    }
    return range;
  }

  // Integers that the type can represent, so that drawn and stored values are equal.
  InputRange whole_floats(size_t operand, double limit) const {
    const ir::Scalar type = type_of(operand);
    if (type == ir::Scalar::F16) limit = std::min(limit, 2047.);
    if (type == ir::Scalar::BF16) limit = std::min(limit, 255.);
    return {.low = -limit, .high = limit, .whole = true, .zero = !uses_.multiplies()};
  }

  InputPlan whole_numbers(double limit) const {
    InputPlan plan;
    for (size_t k = 0; k < workload_.operands.size(); ++k) {
      plan.operands.push_back(ir::is_float(type_of(k)) ? whole_floats(k, limit)
                                                       : integers(k, limit));
    }
    return plan;
  }

  InputPlan fractions() const {
    InputPlan plan;
    for (size_t k = 0; k < workload_.operands.size(); ++k) {
      plan.operands.push_back(ir::is_float(type_of(k)) ? InputRange{} : integers(k, 0));
    }
    return plan;
  }

  // Shifts the range of one float input after the other if that reduces hazards.
  void avoid_hazards(InputPlan& plan) const {
    constexpr std::array<InputRange, 5> kElsewhere = {{{0.5, 1.5, false, false},
                                                       {2, 4, false, false},
                                                       {0.1, 0.9, false, false},
                                                       {-0.5, 0.5, false, true},
                                                       {-0.1, 0.1, false, true}}};
    int hazards = analyze(plan).hazards;
    for (size_t k = 0; k < plan.operands.size(); ++k) {
      if (workload_.operands[k].role == Role::Output || !ir::is_float(type_of(k))) continue;
      InputPlan best = plan;
      for (const InputRange& range : kElsewhere) {
        InputPlan other = plan;
        other.operands[k] = range;
        const int left = analyze(other).hazards;
        if (left >= hazards) continue;
        hazards = left;
        best = std::move(other);
      }
      plan = std::move(best);
    }
  }

  // Extreme values at the ends, if no function prevents it.
  void make_ends_extreme(InputPlan& plan) const {
    constexpr double kExtreme = 3;
    for (size_t k = 0; k < plan.operands.size(); ++k) {
      if (plan.operands[k].whole) continue;
      InputPlan other = plan;
      other.operands[k].extreme = kExtreme;
      if (analyze(other).hazards <= analyze(plan).hazards) plan = std::move(other);
    }
  }

  // Small integers instead, if no function prevents it and all intermediate sums are exact. (In an
  // inexact sum, the same few terms are always rounded the same way, so errors add up.)
  void prefer_exact_sums(InputPlan& plan) const {
    const int hazards = analyze(plan).hazards;
    for (const double limit : {4., 3., 2., 1.}) {
      InputPlan whole = whole_numbers(limit);
      const ValueAnalysis analysis = analyze(whole);
      const bool exact = analysis.exact_sums > 0 && analysis.inexact_sums == 0;
      if (!exact || analysis.hazards > hazards) continue;
      plan = std::move(whole);
      return;
    }
  }

  ValueAnalysis analyze(const InputPlan& plan) const {
    std::vector<ValueSet> inputs(workload_.dag->tensors().size());
    for (size_t k = 0; k < plan.operands.size(); ++k) {
      inputs[workload_.operands[k].tensor] = set_of(plan.operands[k]);
    }
    return analyze_values(*workload_.dag, inputs);
  }

  const Workload& workload_;
  Uses uses_;
};

}  // namespace

Result<InputPlan> plan_inputs(const Workload& workload) { return Planner(workload).plan(); }

double draw_value(Rng& rng, const InputRange& range, bool at_end) {
  if (at_end && rng.chance(kExtremeShare)) {
    // Many distinct values: with equal values, a maximum does not show which element it has seen.
    const double end = range.extreme * (rng.chance(0.5) ? range.low : range.high);
    const double part = end * (1 - 0.25 * rng.uniform());
    const double value = range.whole ? std::round(part) : part;
    if (value != 0 || range.zero) return value;
  }
  if (!range.whole) return range.low + rng.uniform() * (range.high - range.low);
  const auto low = static_cast<int64_t>(range.low), high = static_cast<int64_t>(range.high);
  if (low == -1 && high == 1) {
    return range.zero && rng.chance(kZeroShare) ? 0 : rng.chance(0.5) ? 1 : -1;
  }
  const bool wide = low == -high && high >= 8;  // extreme values differ from the inner half
  const int64_t value = wide ? rng.between(low / 2, high / 2) : rng.between(low, high);
  return value == 0 && !range.zero ? 1 : static_cast<double>(value);
}

}  // namespace tilewright::oracle
