#include "lower/access_list.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ir/visit.h"
#include "lower/lane_mask.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Stmt;

class AccessLister : public MaskedVisitor {
 public:
  explicit AccessLister(size_t buffers) : allocated_at_(buffers, 0) {}

  AccessList list;

  void visit(const Expr& expr) override {
    const auto* node = expr.as<ir::Select>();
    if (node == nullptr || load_under(*node, mask()) != nullptr) return MaskedVisitor::visit(expr);
    visit(node->condition);
    const int outer = std::exchange(condition_depth_, depth_);
    visit(node->if_true);
    visit(node->if_false);
    condition_depth_ = outer;
  }

  void visit(const Stmt& stmt) override {
    switch (stmt.kind()) {
      case ir::StmtKind::For:
        return visit_loop(*stmt.as<ir::For>());
      case ir::StmtKind::Let: {
        const auto* let = stmt.as<ir::Let>();
        visit(let->value);
        bind(let->var);
        visit(let->body);
        --depth_;
        return;
      }
      case ir::StmtKind::If: {
        const auto* node = stmt.as<ir::If>();
        visit(node->condition);
        const int outer = std::exchange(condition_depth_, depth_);
        visit(node->then_body);
        if (node->else_body.defined()) visit(node->else_body);
        condition_depth_ = outer;
        return;
      }
      case ir::StmtKind::Store: {
        const auto* store = stmt.as<ir::Store>();
        const Expr mask = visit_operands(*store);
        const bool conditional = store->predicate.defined() && !mask.defined();
        const int outer = std::exchange(condition_depth_, conditional ? depth_ : condition_depth_);
        note({.buffer = store->buffer, .store = store, .mask = mask}, store->indices[0]);
        condition_depth_ = outer;
        return;
      }
      case ir::StmtKind::Allocate:
        allocated_at_[stmt.as<ir::Allocate>()->buffer] = depth_;
        break;
      case ir::StmtKind::Transpose:
        CHECK(false, "a Transpose is made after the passes that list accesses");
        break;
      case ir::StmtKind::Prefetch:
      case ir::StmtKind::Block:
        break;
    }
    ir::Visitor::visit(stmt);
  }

 private:
  void visit_load(const ir::Load& load, const Expr& mask) override {
    note({.buffer = load.buffer, .load = &load, .mask = mask}, load.indices[0]);
  }

  void bind(const Expr& var) { depth_of_[var.as<ir::Var>()->id] = ++depth_; }

  void visit_loop(const ir::For& loop) {
    visit(loop.extent);
    const size_t place = list.loops.size();
    if (loop.is_parallel()) {
      for (LoopAccesses& outer : list.loops) outer.has_parallel |= outer.end == kOpen;
    }
    const int64_t* extent = ir::as_int(loop.extent);
    const bool may_skip = extent == nullptr || *extent < 1;
    const int outer = std::exchange(condition_depth_, may_skip ? depth_ : condition_depth_);
    bind(loop.var);
    list.loops.push_back({&loop, depth_, list.accesses.size(), kOpen, false});
    visit(loop.body);
    list.loops[place].end = list.accesses.size();
    --depth_;
    condition_depth_ = outer;
  }

  void note(Access access, const Expr& index) {
    access.lanes = active_lanes(access.mask).value_or(index.type().lanes);
    access.condition_depth = condition_depth_;
    const auto* ramp = index.as<ir::Ramp>();
    access.dense = !index.type().is_vector() || (ramp != nullptr && ramp->stride == 1);
    access.index_depth = std::max(allocated_at_[access.buffer], depth_in(index));
    if (access.dense) access.index = linear_of(ramp == nullptr ? index : ramp->base);
    list.accesses.push_back(std::move(access));
  }

  // A loaded index may change anywhere: it has the greatest depth.
  int depth_in(const Expr& expr) const {
    if (const auto* var = expr.as<ir::Var>()) {
      const auto found = depth_of_.find(var->id);
      return found == depth_of_.end() ? 0 : found->second;
    }
    if (expr.as<ir::Load>() != nullptr) return depth_;
    int depth = 0;
    ir::for_each_child(expr, [&](const Expr& child) { depth = std::max(depth, depth_in(child)); });
    return depth;
  }

  static constexpr size_t kOpen = static_cast<size_t>(-1);

  int depth_ = 0;  // binders around
  int condition_depth_ = -1;
  std::vector<int> allocated_at_;  // per BufferId: binders around its Allocate
  std::unordered_map<ir::VarId, int> depth_of_;
};

}  // namespace

AccessList list_accesses(const ir::Function& function) {
  AccessLister lister(function.buffers.size());
  lister.visit(function.body);
  return std::move(lister.list);
}

}  // namespace tilewright::lower
