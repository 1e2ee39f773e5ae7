#include "lower/stmt_copier.h"

#include "lower/linear_index.h"

namespace tilewright::lower {

using ir::Expr;
using ir::Stmt;

Expr StmtCopier::rewrite(const Expr& expr) {
  switch (expr.kind()) {
    case ir::ExprKind::Var: {
      const auto found = values_.find(expr.as<ir::Var>()->id);
      return found == values_.end() ? expr : found->second;
    }
    case ir::ExprKind::Load: {
      const auto* load = expr.as<ir::Load>();
      return ir::load(load->type, load->buffer, rewrite_indices(load->indices));
    }
    case ir::ExprKind::Select: {
      const auto* node = expr.as<ir::Select>();
      const Expr condition = decided(node->condition);
      if (const int64_t* truth = ir::as_int(condition)) {
        return rewrite(*truth != 0 ? node->if_true : node->if_false);
      }
      return ir::select(condition, rewrite(node->if_true), rewrite(node->if_false));
    }
    default:
      return rewrite_children(expr);
  }
}

Stmt StmtCopier::rewrite(const Stmt& stmt) {
  if (const auto* store = stmt.as<ir::Store>()) {
    return ir::make_store(store->buffer, rewrite_indices(store->indices), rewrite(store->value),
                          rewrite_optional(store->predicate), store->stream);
  }
  if (const auto* prefetch = stmt.as<ir::Prefetch>()) {
    return ir::make_prefetch(prefetch->buffer, rewrite_indices(prefetch->indices));
  }
  return rewrite_children(stmt);
}

Expr StmtCopier::renamed(const Expr& var) {
  const auto* node = var.as<ir::Var>();
  Expr fresh(new ir::Var(node->type, ir::fresh_var_id(), node->name));
  values_[node->id] = fresh;
  return fresh;
}

std::vector<Expr> StmtCopier::rewrite_indices(const std::vector<Expr>& indices) const {
  std::vector<Expr> result;
  result.reserve(indices.size());
  for (const Expr& index : indices) result.push_back(canonical_index(index, &values_));
  return result;
}

Stmt make_branch(const Expr& condition, Stmt then_body, Stmt else_body) {
  if (then_body.defined()) {
    return ir::make_if(condition, std::move(then_body), std::move(else_body));
  }
  if (!else_body.defined()) return {};
  return ir::make_if(ir::call(ir::Intrinsic::Not, {condition}), std::move(else_body));
}

}  // namespace tilewright::lower
