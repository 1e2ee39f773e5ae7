#include "te/access.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/check.h"
#include "ir/equal.h"
#include "ir/visit.h"
#include "te/dag.h"

namespace tilewright::te {
namespace {

bool is_expensive(ir::Intrinsic function) {
  using enum ir::Intrinsic;
  return function == Exp || function == Log || function == Tanh || function == Erf ||
         function == Sigmoid || function == Pow;
}

// The instructions of an expression without its operands; functions as `lower` expands them.
int64_t instructions_of(const ir::Expr& expr) {
  if (expr.type().scalar == ir::kIndex.scalar) return 0;  // indices: strength-reduced
  if (expr.as<ir::Select>() != nullptr) return 4;         // its condition, and loads under a mask
  if (const auto* call = expr.as<ir::Call>()) {
    switch (call->function) {
      case ir::Intrinsic::Exp:
        return 15;
      case ir::Intrinsic::Tanh:
      case ir::Intrinsic::Sigmoid:
        return 20;
      case ir::Intrinsic::Log:
      case ir::Intrinsic::Erf:
        return 33;
      case ir::Intrinsic::Pow:
        return 96;
      default:
        return 2;
    }
  }
  const bool arithmetic = expr.as<ir::Binary>() != nullptr || expr.as<ir::Fma>() != nullptr ||
                          expr.as<ir::Load>() != nullptr || expr.as<ir::Cast>() != nullptr;
  return arithmetic ? 1 : 0;
}

using AxisNumbers = std::unordered_map<ir::VarId, uint32_t>;

class AxisCollector : public ir::Visitor {
 public:
  explicit AxisCollector(const AxisNumbers& numbers) : numbers_(numbers) {}
  void visit(const ir::Expr& expr) override {
    if (const auto* var = expr.as<ir::Var>()) axes |= uint64_t{1} << numbers_.at(var->id);
    ir::Visitor::visit(expr);
  }
  uint64_t axes = 0;

 private:
  const AxisNumbers& numbers_;
};

// An index as a sum of axes and quotients.
//
//   (c / 4) * 8 + r  ->  8*q0 + r, q0 = floor(c / 4)
class QuasiAffine {
 public:
  QuasiAffine(const AxisNumbers& numbers, std::vector<Quotient>& quotients)
      : numbers_(numbers), quotients_(quotients) {}

  // out += factor * expr
  bool add(const ir::Expr& expr, int64_t factor, arith::Affine& out) {
    if (const std::optional<arith::Affine> form = arith::affine_of(expr)) {
      return out.add(renamed(*form), factor);
    }
    const auto* node = expr.as<ir::Binary>();
    if (node == nullptr) return false;
    switch (node->op) {
      case ir::BinaryOp::Add:
        return add(node->a, factor, out) && add(node->b, factor, out);
      case ir::BinaryOp::Sub:
        return factor != INT64_MIN && add(node->a, factor, out) && add(node->b, -factor, out);
      case ir::BinaryOp::Mul:
        return add_product(node->a, node->b, factor, out) ||
               add_product(node->b, node->a, factor, out);
      case ir::BinaryOp::Div:
      case ir::BinaryOp::Mod: {
        const std::optional<Quotient> quotient = quotient_of(expr);
        return quotient && out.add_term(kFirstQuotient + number_of(*quotient), factor);
      }
      default:
        return false;
    }
  }

  arith::Affine renamed(const arith::Affine& form) const {
    arith::Affine out;
    out.constant = form.constant;
    for (const arith::Term& term : form.terms) {
      CHECK(out.add_term(numbers_.at(term.var), term.coefficient), "renaming adds no term");
    }
    return out;
  }

 private:
  bool add_product(const ir::Expr& value, const ir::Expr& number, int64_t factor,
                   arith::Affine& out) {
    const int64_t* times = ir::as_int(number);
    int64_t product = 0;
    return times != nullptr && !__builtin_mul_overflow(*times, factor, &product) &&
           add(value, product, out);
  }

  // Divisions of divisions and a modulo of a division are one quotient.
  std::optional<Quotient> quotient_of(const ir::Expr& expr) const {
    if (const std::optional<arith::Affine> form = arith::affine_of(expr)) {
      return Quotient{.of = renamed(*form)};
    }
    const auto* node = expr.as<ir::Binary>();
    if (node == nullptr || (node->op != ir::BinaryOp::Div && node->op != ir::BinaryOp::Mod)) {
      return {};
    }
    const int64_t* number = ir::as_int(node->b);
    std::optional<Quotient> quotient = quotient_of(node->a);
    if (number == nullptr || *number <= 0 || !quotient || quotient->modulus != 0) return {};
    if (node->op == ir::BinaryOp::Mod) {
      quotient->modulus = *number;
    } else if (__builtin_mul_overflow(quotient->divisor, *number, &quotient->divisor)) {
      return {};
    }
    return quotient;
  }

  uint32_t number_of(const Quotient& quotient) {
    const auto found = std::ranges::find(quotients_, quotient);
    const auto number = static_cast<uint32_t>(found - quotients_.begin());
    if (found == quotients_.end()) quotients_.push_back(quotient);
    return number;
  }

  const AxisNumbers& numbers_;
  std::vector<Quotient>& quotients_;
};

AccessDim analyze_index(const ir::Expr& index, const AxisNumbers& numbers,
                        std::vector<Quotient>& quotients) {
  AccessDim dim;
  AxisCollector collector(numbers);
  collector.visit(index);
  dim.axes = collector.axes;
  QuasiAffine quasi(numbers, quotients);
  if (const std::optional<arith::Affine> form = arith::affine_of(index)) {
    dim.affine = true;
    dim.index = quasi.renamed(*form);
    return dim;
  }
  dim.quasi_affine = index.type() == ir::kIndex && quasi.add(index, 1, dim.index);
  return dim;
}

class Analysis : public ir::Visitor {
 public:
  explicit Analysis(const Op& op) {
    for (const auto* axes : {&op.axes, &op.reduce_axes}) {
      for (const Axis& axis : *axes) {
        numbers_.emplace(axis.id(), static_cast<uint32_t>(numbers_.size()));
      }
    }
    CHECK(numbers_.size() <= kMaxOpAxes, "{} has {} axes; {} are supported", op.name.text(),
          numbers_.size(), kMaxOpAxes);
    for (const auto* axes : {&op.axes, &op.reduce_axes}) {
      for (const Axis& axis : *axes) {
        if (axis.hints.simplify_const_index) folding_ |= uint64_t{1} << numbers_.at(axis.id());
      }
    }
  }

  void visit(const ir::Expr& expr) override {
    const int64_t before = result.instructions;
    result.instructions += instructions_of(expr);
    if (const auto* select = expr.as<ir::Select>()) {
      result.has_branch = true;
      visit(select->condition);
      if (folds(select->condition)) result.instructions = before;
      const bool outside = std::exchange(guarded_, true);
      visit(select->if_true);
      visit(select->if_false);
      guarded_ = outside;
      return;
    }
    if (const auto* call = expr.as<ir::Call>()) {
      result.has_expensive_call |= is_expensive(call->function);
    }
    if (const auto* load = expr.as<ir::Load>()) add(*load);
    ir::Visitor::visit(expr);
  }

  OpAccess result;

 private:
  // Known once the axes with the hint simplify_const_index are: entries of a constant matrix.
  bool folds(const ir::Expr& condition) const {
    if (folding_ == 0) return false;
    AxisCollector collector(numbers_);
    collector.visit(condition);
    return (collector.axes & ~folding_) == 0;
  }

  void add(const ir::Load& load) {
    for (size_t k = 0; k < loads_.size(); ++k) {
      if (loads_[k]->buffer == load.buffer &&
          std::ranges::equal(loads_[k]->indices, load.indices,
                             [](const auto& a, const auto& b) { return ir::equal(a, b); })) {
        result.reads[k].guarded &= guarded_;
        return;
      }
    }
    Access access{.tensor = load.buffer, .dims = {}, .guarded = guarded_};
    for (const ir::Expr& index : load.indices) {
      access.dims.push_back(analyze_index(index, numbers_, result.quotients));
    }
    loads_.push_back(&load);
    result.reads.push_back(std::move(access));
  }

  AxisNumbers numbers_;
  uint64_t folding_ = 0;                // axes with the hint simplify_const_index
  std::vector<const ir::Load*> loads_;  // parallel to result.reads; owned by the body
  bool guarded_ = false;
};

}  // namespace

std::optional<uint32_t> AccessDim::shifted_axis() const {
  if (!affine || index.terms.size() != 1 || index.terms[0].coefficient != 1) return {};
  return index.terms[0].var;
}

OpAccess analyze_access(const Op& op) {
  Analysis analysis(op);
  for (const ir::Expr& value : op.body) analysis.visit(value);
  return std::move(analysis.result);
}

}  // namespace tilewright::te
