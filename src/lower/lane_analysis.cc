#include "lower/lane_analysis.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/linear_index.h"
#include "lower/reduction_store.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;

struct LaneAccess {
  ir::BufferId buffer = 0;
  bool is_store = false;
  std::optional<BinaryOp> folded;  // a store that folds, at an index without the variable
  LinearIndex index;
};

bool has_load(const Expr& expr) {
  if (expr.as<ir::Load>() != nullptr) return true;
  bool found = false;
  ir::for_each_child(expr, [&](const Expr& child) { found = found || has_load(child); });
  return found;
}

class LaneAnalyser : public ir::Visitor {
 public:
  LaneAnalyser(const ir::For& loop, const ir::Function& function,
               const FloatPermissions& permissions)
      : function_(function),
        permissions_(permissions),
        extent_(*ir::as_int(loop.extent)),
        varying_{loop.var.as<ir::Var>()->id} {}

  LaneAnalysis analyze(const ir::For& loop) {
    visit(loop.body);
    for (const LaneAccess& access : accesses_) {
      if (!refused_ && access.is_store && !independent(access)) refused_ = true;
    }
    return {.lockstep = !refused_, .widest_bytes = widest_bytes_};
  }

  void visit(const Expr& expr) override {
    if (refused_) return;
    if (expr.type().is_vector() || expr.as<ir::VectorReduce>() != nullptr) {
      refused_ = true;  // already vectorized
      return;
    }
    if (const auto* load = expr.as<ir::Load>()) {
      note_element(load->type.scalar);
      accesses_.push_back({load->buffer, false, {}, linear_of(load->indices[0])});
    } else if (expr.as<ir::Cast>() != nullptr && ir::is_float(expr.type())) {
      note_element(expr.type().scalar);
    }
    ir::Visitor::visit(expr);
  }

  void visit(const Stmt& stmt) override {
    if (refused_) return;
    switch (stmt.kind()) {
      case ir::StmtKind::Transpose:
      case ir::StmtKind::Allocate:
        refused_ = true;
        return;
      case ir::StmtKind::Store:
        return visit_store(*stmt.as<ir::Store>());
      case ir::StmtKind::Let: {
        const auto* let = stmt.as<ir::Let>();
        const ir::VarId var = let->var.as<ir::Var>()->id;
        if (uses_any(let->value, varying_)) varying_.push_back(var);
        inner_.push_back(var);
        break;
      }
      case ir::StmtKind::For: {
        const auto* loop = stmt.as<ir::For>();
        const bool plain =
            loop->loop_kind == ir::ForKind::Serial || loop->loop_kind == ir::ForKind::Unrolled;
        if (!plain || uses_any(loop->extent, varying_)) refused_ = true;
        inner_.push_back(loop->var.as<ir::Var>()->id);
        break;
      }
      case ir::StmtKind::If:
      case ir::StmtKind::Prefetch:
      case ir::StmtKind::Block:
        break;
    }
    ir::Visitor::visit(stmt);
  }

 private:
  void note_element(ir::Scalar type) {
    widest_bytes_ = std::max(widest_bytes_, ir::bytes_of(type));
  }

  void visit_store(const ir::Store& store) {
    note_element(function_.buffers[store.buffer].element.scalar);
    LaneAccess access{store.buffer, true, {}, linear_of(store.indices[0])};
    visit(store.indices[0]);
    if (store.predicate.defined()) visit(store.predicate);
    if (uses_any(store.indices[0], varying_)) {
      visit(store.value);
    } else {
      const std::optional<ReductionStore> reduction = match_reduction(store);
      if (!reduction || !may_reorder(store.value.type())) {
        refused_ = true;
        return;
      }
      access.folded = reduction->op;
      visit(reduction->value);
    }
    accesses_.push_back(std::move(access));
  }

  bool may_reorder(ir::Type type) const {
    // max(-0, +0) is the first operand, so even a maximum may not be reordered.
    return !ir::is_float(type) || permissions_.reassociate;
  }

  bool independent(const LaneAccess& store) const {
    int64_t modulus = 0;  // the difference of two accesses is a multiple of it
    const int64_t step = store.index.coefficient_of(varying_[0]);
    if (step == 0 && !store.folded) return false;
    for (const LaneAccess& access : accesses_) {
      if (access.buffer != store.buffer) continue;
      if (access.folded != store.folded) return false;
      if (store.folded) continue;
      if (access.index.coefficient_of(varying_[0]) != step) return false;
      modulus = std::gcd(modulus, access.index.constant - store.index.constant);
      if (!add_differences(modulus, access.index, store.index)) return false;
      if (!add_differences(modulus, store.index, access.index)) return false;
    }
    return modulus == 0 || std::abs(step) * (extent_ - 1) < modulus;
  }

  // Terms of `a` that are bound inside, or loaded, may have other values in `b`; terms from outside
  // cancel if their coefficients are equal. False if a factor other than the variable varies by
  // lane.
  bool add_differences(int64_t& modulus, const LinearIndex& a, const LinearIndex& b) const {
    for (const IndexTerm& term : a.terms) {
      if (term.var == varying_[0]) continue;
      if (uses_any(term.atom, varying_)) return false;
      if (uses_any(term.atom, inner_) || has_load(term.atom)) {
        modulus = std::gcd(modulus, term.coefficient);
      } else {
        modulus = std::gcd(modulus, term.coefficient - b.coefficient_like(term));
      }
    }
    return true;
  }

  const ir::Function& function_;
  const FloatPermissions& permissions_;
  int64_t extent_;
  std::vector<ir::VarId> varying_;  // the loop variable, then Lets computed from it
  std::vector<ir::VarId> inner_;    // bound in the body
  std::vector<LaneAccess> accesses_;
  int widest_bytes_ = 1;
  bool refused_ = false;
};

}  // namespace

bool uses_any(const Expr& expr, const std::vector<ir::VarId>& vars) {
  if (const auto* var = expr.as<ir::Var>()) return std::ranges::count(vars, var->id) > 0;
  bool found = false;
  ir::for_each_child(expr, [&](const Expr& child) { found = found || uses_any(child, vars); });
  return found;
}

LaneAnalysis analyze_lanes(const ir::For& loop, const ir::Function& function,
                           const FloatPermissions& permissions) {
  return LaneAnalyser(loop, function, permissions).analyze(loop);
}

}  // namespace tilewright::lower
