#include "te/access.h"

#include <algorithm>
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

AccessDim analyse_index(const ir::Expr& index, const AxisNumbers& numbers) {
  AccessDim dim;
  AxisCollector collector(numbers);
  collector.visit(index);
  dim.axes = collector.axes;
  const std::optional<arith::Affine> form = arith::affine_of(index);
  if (!form) return dim;
  dim.affine = true;
  dim.index.constant = form->constant;
  for (const arith::Term& term : form->terms) {
    CHECK(dim.index.add_term(numbers.at(term.var), term.coefficient), "renaming adds no term");
  }
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
    CHECK(numbers_.size() <= 64, "{} has {} axes; 64 are supported", op.name.text(),
          numbers_.size());
  }

  void visit(const ir::Expr& expr) override {
    if (const auto* select = expr.as<ir::Select>()) {
      result.has_branch = true;
      visit(select->condition);
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
      access.dims.push_back(analyse_index(index, numbers_));
    }
    loads_.push_back(&load);
    result.reads.push_back(std::move(access));
  }

  AxisNumbers numbers_;
  std::vector<const ir::Load*> loads_;  // beside result.reads; owned by the body
  bool guarded_ = false;
};

}  // namespace

std::optional<uint32_t> AccessDim::shifted_axis() const {
  if (!affine || index.terms.size() != 1 || index.terms[0].coefficient != 1) return {};
  return index.terms[0].var;
}

OpAccess analyse_access(const Op& op) {
  Analysis analysis(op);
  for (const ir::Expr& value : op.body) analysis.visit(value);
  return std::move(analysis.result);
}

}  // namespace tilewright::te
