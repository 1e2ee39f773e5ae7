#include "ir/visit.h"

namespace tilewright::ir {

void Visitor::visit(const Expr& expr) {
  for_each_child(expr, [this](const Expr& child) { visit(child); });
}

void Visitor::visit(const Stmt& stmt) {
  const auto visit_if_defined = [this](const Stmt& child) {
    if (child.defined()) visit(child);
  };
  switch (stmt.kind()) {
    case StmtKind::For: {
      const auto* n = stmt.as<For>();
      visit(n->extent);
      visit_if_defined(n->body);
      return;
    }
    case StmtKind::If: {
      const auto* n = stmt.as<If>();
      visit(n->condition);
      visit_if_defined(n->then_body);
      visit_if_defined(n->else_body);
      return;
    }
    case StmtKind::Let: {
      const auto* n = stmt.as<Let>();
      visit(n->value);
      visit_if_defined(n->body);
      return;
    }
    case StmtKind::Store: {
      const auto* n = stmt.as<Store>();
      for (const Expr& index : n->indices) visit(index);
      visit(n->value);
      if (n->predicate.defined()) visit(n->predicate);
      return;
    }
    case StmtKind::Transpose:
      visit(stmt.as<Transpose>()->to.index);
      visit(stmt.as<Transpose>()->from.index);
      return;
    case StmtKind::Prefetch:
      for (const Expr& index : stmt.as<Prefetch>()->indices) visit(index);
      return;
    case StmtKind::Allocate:
      return visit_if_defined(stmt.as<Allocate>()->body);
    case StmtKind::Block:
      for (const Stmt& child : stmt.as<Block>()->stmts) visit_if_defined(child);
      return;
  }
}

namespace {

// The rewritten list; `changed` is set when an element is another node than before.
template <class T>
std::vector<T> rewrite_list(Rewriter& rewriter, const std::vector<T>& list, bool& changed) {
  std::vector<T> result;
  result.reserve(list.size());
  for (const T& item : list) {
    result.push_back(rewriter.rewrite(item));
    changed |= !result.back().same_as(item);
  }
  return result;
}

}  // namespace

Expr Rewriter::rewrite_children(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::IntImm:
    case ExprKind::FloatImm:
    case ExprKind::Var:
      return expr;
    case ExprKind::Cast: {
      const auto* n = expr.as<Cast>();
      Expr value = rewrite(n->value);
      return value.same_as(n->value) ? expr : cast(n->type.scalar, std::move(value));
    }
    case ExprKind::Binary: {
      const auto* n = expr.as<Binary>();
      Expr a = rewrite(n->a), b = rewrite(n->b);
      if (a.same_as(n->a) && b.same_as(n->b)) return expr;
      return binary(n->op, std::move(a), std::move(b));
    }
    case ExprKind::Fma: {
      const auto* n = expr.as<Fma>();
      Expr a = rewrite(n->a), b = rewrite(n->b), c = rewrite(n->c);
      if (a.same_as(n->a) && b.same_as(n->b) && c.same_as(n->c)) return expr;
      return fma(std::move(a), std::move(b), std::move(c));
    }
    case ExprKind::Select: {
      const auto* n = expr.as<Select>();
      Expr c = rewrite(n->condition), t = rewrite(n->if_true), f = rewrite(n->if_false);
      if (c.same_as(n->condition) && t.same_as(n->if_true) && f.same_as(n->if_false)) return expr;
      return select(std::move(c), std::move(t), std::move(f));
    }
    case ExprKind::Call: {
      const auto* n = expr.as<Call>();
      bool changed = false;
      std::vector<Expr> args = rewrite_list(*this, n->args, changed);
      if (!changed) return expr;
      if (n->function == Intrinsic::Bitcast) return bitcast(n->type.scalar, std::move(args[0]));
      return call(n->function, std::move(args));
    }
    case ExprKind::Load: {
      const auto* n = expr.as<Load>();
      bool changed = false;
      std::vector<Expr> indices = rewrite_list(*this, n->indices, changed);
      if (!changed) return expr;
      // Indices that became vectors make the load one; a Register element keeps its lanes.
      const bool whole_element = indices.empty() || !indices[0].type().is_vector();
      if (whole_element && !n->indices[0].type().is_vector()) {
        return load(n->type, n->buffer, std::move(indices));
      }
      return load(n->type.scalar, n->buffer, std::move(indices));
    }
    case ExprKind::Ramp: {
      const auto* n = expr.as<Ramp>();
      Expr base = rewrite(n->base);
      return base.same_as(n->base) ? expr : ramp(std::move(base), n->stride, n->type.lanes);
    }
    case ExprKind::Broadcast: {
      const auto* n = expr.as<Broadcast>();
      Expr value = rewrite(n->value);
      return value.same_as(n->value) ? expr : broadcast(std::move(value), n->type.lanes);
    }
    case ExprKind::VectorReduce: {
      const auto* n = expr.as<VectorReduce>();
      Expr value = rewrite(n->value);
      return value.same_as(n->value) ? expr : vector_reduce(n->op, std::move(value));
    }
    case ExprKind::Dot: {
      const auto* n = expr.as<Dot>();
      Expr sum = rewrite(n->sum), a = rewrite(n->a), b = rewrite(n->b);
      if (sum.same_as(n->sum) && a.same_as(n->a) && b.same_as(n->b)) return expr;
      return dot(std::move(sum), std::move(a), std::move(b), n->rows, n->intrinsic, n->rounding);
    }
  }
  CHECK(false, "unknown kind of expression");
}

Stmt Rewriter::rewrite_children(const Stmt& stmt) {
  switch (stmt.kind()) {
    case StmtKind::For: {
      const auto* n = stmt.as<For>();
      Expr extent = rewrite(n->extent);
      Stmt body = rewrite(n->body);
      if (extent.same_as(n->extent) && body.same_as(n->body)) return stmt;
      if (!body.defined()) return {};
      return make_for_like(*n, n->var, std::move(extent), std::move(body));
    }
    case StmtKind::If: {
      const auto* n = stmt.as<If>();
      Expr condition = rewrite(n->condition);
      Stmt then_body = rewrite(n->then_body);
      Stmt else_body = n->else_body.defined() ? rewrite(n->else_body) : Stmt{};
      if (condition.same_as(n->condition) && then_body.same_as(n->then_body) &&
          else_body.same_as(n->else_body)) {
        return stmt;
      }
      if (then_body.defined()) {
        return make_if(std::move(condition), std::move(then_body), std::move(else_body));
      }
      if (!else_body.defined()) return {};
      return make_if(call(Intrinsic::Not, {std::move(condition)}), std::move(else_body));
    }
    case StmtKind::Let: {
      const auto* n = stmt.as<Let>();
      Expr value = rewrite(n->value);
      Stmt body = rewrite(n->body);
      if (value.same_as(n->value) && body.same_as(n->body)) return stmt;
      if (!body.defined()) return {};
      return make_let(n->var, std::move(value), std::move(body));
    }
    case StmtKind::Store: {
      const auto* n = stmt.as<Store>();
      bool changed = false;
      std::vector<Expr> indices = rewrite_list(*this, n->indices, changed);
      Expr value = rewrite(n->value);
      Expr predicate = rewrite_optional(n->predicate);
      if (!changed && value.same_as(n->value) && predicate.same_as(n->predicate)) return stmt;
      return make_store(n->buffer, std::move(indices), std::move(value), std::move(predicate),
                        n->stream);
    }
    case StmtKind::Transpose: {
      const auto* n = stmt.as<Transpose>();
      Expr to = rewrite(n->to.index), from = rewrite(n->from.index);
      if (to.same_as(n->to.index) && from.same_as(n->from.index)) return stmt;
      return make_transpose({n->to.buffer, std::move(to), n->to.stride},
                            {n->from.buffer, std::move(from), n->from.stride}, n->size);
    }
    case StmtKind::Prefetch: {
      const auto* n = stmt.as<Prefetch>();
      bool changed = false;
      std::vector<Expr> indices = rewrite_list(*this, n->indices, changed);
      return changed ? make_prefetch(n->buffer, std::move(indices)) : stmt;
    }
    case StmtKind::Allocate: {
      const auto* n = stmt.as<Allocate>();
      Stmt body = rewrite(n->body);
      if (body.same_as(n->body)) return stmt;
      return body.defined() ? make_allocate(n->buffer, std::move(body)) : Stmt{};
    }
    case StmtKind::Block: {
      bool changed = false;
      std::vector<Stmt> stmts = rewrite_list(*this, stmt.as<Block>()->stmts, changed);
      return changed ? make_block(std::move(stmts)) : stmt;
    }
  }
  CHECK(false, "unknown kind of statement");
}

namespace {

class Substituter : public Rewriter {
 public:
  explicit Substituter(const Substitution& values) : values_(values) {}
  using Rewriter::rewrite;
  Expr rewrite(const Expr& expr) override {
    const auto* v = expr.as<Var>();
    if (v == nullptr) return rewrite_children(expr);
    const auto found = values_.find(v->id);
    return found == values_.end() ? expr : found->second;
  }

 private:
  const Substitution& values_;
};

class UseFinder : public Visitor {
 public:
  explicit UseFinder(VarId var) : var_(var) {}
  void visit(const Expr& expr) override {
    if (found_) return;
    if (const auto* v = expr.as<Var>()) {
      found_ = v->id == var_;
    } else {
      Visitor::visit(expr);
    }
  }
  void visit(const Stmt& stmt) override {
    if (!found_) Visitor::visit(stmt);
  }
  bool found() const { return found_; }

 private:
  VarId var_;
  bool found_ = false;
};

}  // namespace

Expr substitute(const Expr& expr, const Substitution& values) {
  return values.empty() ? expr : Substituter(values).rewrite(expr);
}
Stmt substitute(const Stmt& stmt, const Substitution& values) {
  return values.empty() ? stmt : Substituter(values).rewrite(stmt);
}

bool uses_var(const Expr& expr, VarId var) {
  UseFinder finder(var);
  finder.visit(expr);
  return finder.found();
}
bool uses_var(const Stmt& stmt, VarId var) {
  UseFinder finder(var);
  finder.visit(stmt);
  return finder.found();
}

}  // namespace tilewright::ir
