#include "lower/unroll.h"

#include "ir/visit.h"
#include "lower/linear_index.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Stmt;

// Copies each statement once, however deep the unrolled loops nest: values_ holds the values of all
// their variables, and indices are rebuilt as sums with these values in the constant.
class Unroller : public ir::Rewriter {
 public:
  Expr rewrite(const Expr& expr) override {
    if (values_.empty()) return expr;
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
        const Expr condition = rewrite(node->condition);
        if (const int64_t* known = ir::as_int(condition)) {
          return rewrite(*known != 0 ? node->if_true : node->if_false);
        }
        return ir::select(condition, rewrite(node->if_true), rewrite(node->if_false));
      }
      case ir::ExprKind::Binary:
        return expr.type() == ir::kIndex ? canonical_index(expr, &values_) : rewrite_children(expr);
      default:
        return rewrite_children(expr);
    }
  }

  Stmt rewrite(const Stmt& stmt) override {
    switch (stmt.kind()) {
      case ir::StmtKind::For: {
        const auto* loop = stmt.as<ir::For>();
        if (loop->loop_kind == ir::ForKind::Unrolled) return unrolled(*loop);
        if (values_.empty()) return rewrite_children(stmt);
        Expr extent = rewrite(loop->extent);
        const Expr var = renamed(loop->var);
        Stmt body = rewrite(loop->body);
        if (!body.defined()) return {};
        return ir::make_for(var, std::move(extent), loop->loop_kind, std::move(body));
      }
      case ir::StmtKind::Let: {
        if (values_.empty()) return rewrite_children(stmt);
        const auto* let = stmt.as<ir::Let>();
        Expr value = rewrite(let->value);
        const Expr var = renamed(let->var);
        Stmt body = rewrite(let->body);
        if (!body.defined()) return {};
        return ir::make_let(var, std::move(value), std::move(body));
      }
      case ir::StmtKind::If: {
        if (values_.empty()) return rewrite_children(stmt);
        const auto* node = stmt.as<ir::If>();
        const Expr condition = rewrite(node->condition);
        const int64_t* known = ir::as_int(condition);
        Stmt then_body, else_body;
        if (known == nullptr || *known != 0) then_body = rewrite(node->then_body);
        if ((known == nullptr || *known == 0) && node->else_body.defined()) {
          else_body = rewrite(node->else_body);
        }
        if (known != nullptr) return *known != 0 ? then_body : else_body;
        return guarded(condition, std::move(then_body), std::move(else_body));
      }
      case ir::StmtKind::Store: {
        if (values_.empty()) return stmt;
        const auto* store = stmt.as<ir::Store>();
        Expr predicate = rewrite_optional(store->predicate);
        const int64_t* known = predicate.defined() ? ir::as_int(predicate) : nullptr;
        if (known != nullptr && *known == 0) return {};
        return ir::make_store(store->buffer, rewrite_indices(store->indices), rewrite(store->value),
                              std::move(predicate), store->stream);
      }
      case ir::StmtKind::Prefetch: {
        if (values_.empty()) return stmt;
        const auto* prefetch = stmt.as<ir::Prefetch>();
        return ir::make_prefetch(prefetch->buffer, rewrite_indices(prefetch->indices));
      }
      default:
        return rewrite_children(stmt);
    }
  }

 private:
  Stmt unrolled(const ir::For& loop) {
    const int64_t* extent = ir::as_int(loop.extent);
    CHECK(extent != nullptr, "unrolled loop `{}` has no constant extent",
          loop.var.as<ir::Var>()->name.text());
    const ir::VarId var = loop.var.as<ir::Var>()->id;
    std::vector<Stmt> copies;
    copies.reserve(static_cast<size_t>(*extent));
    ++unrolled_around_;
    for (int64_t k = 0; k < *extent; ++k) {
      values_[var] = ir::int_imm(k);
      copies.push_back(rewrite(loop.body));
    }
    values_.erase(var);
    if (--unrolled_around_ == 0) values_.clear();
    return ir::make_block(std::move(copies));
  }

  // Each body may have been removed.
  static Stmt guarded(const Expr& condition, Stmt then_body, Stmt else_body) {
    if (then_body.defined()) {
      return ir::make_if(condition, std::move(then_body), std::move(else_body));
    }
    if (!else_body.defined()) return {};
    return ir::make_if(ir::call(ir::Intrinsic::Not, {condition}), std::move(else_body));
  }

  Expr renamed(const Expr& var) {
    const auto* node = var.as<ir::Var>();
    Expr fresh(new ir::Var(node->type, ir::fresh_var_id(), node->name));
    values_[node->id] = fresh;
    return fresh;
  }

  std::vector<Expr> rewrite_indices(const std::vector<Expr>& indices) {
    std::vector<Expr> result;
    result.reserve(indices.size());
    for (const Expr& index : indices) result.push_back(canonical_index(index, &values_));
    return result;
  }

  // Of unrolled loops and of variables bound in their copies; empty otherwise.
  ir::Substitution values_;
  int unrolled_around_ = 0;
};

}  // namespace

void unroll(ir::Function& function, const PassContext&) {
  function.body = Unroller().rewrite(function.body);
}

}  // namespace tilewright::lower
