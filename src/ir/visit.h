// Traversal and rewriting of expressions and statements.
//
// Rewriter: override the functions of the nodes to change. The defaults rebuild a node only if a
// child changed, so an unchanged tree stays the same pointer. Binders (the variables of For and
// Let) are not rewritten. A statement whose body becomes null becomes null; an If only if both arms
// do. Visitor: override the functions of the nodes to look at, and call the base class to visit
// children.
#pragma once

#include <functional>
#include <unordered_map>

#include "ir/expr.h"
#include "ir/stmt.h"

namespace tilewright::ir {

// Calls f on each child expression, left to right, in the order of the fields.
template <class F>
void for_each_child(const Expr& expr, F&& f) {
  switch (expr.kind()) {
    case ExprKind::IntImm:
    case ExprKind::FloatImm:
    case ExprKind::Var:
      return;
    case ExprKind::Cast:
      f(expr.as<Cast>()->value);
      return;
    case ExprKind::Binary: {
      const auto* n = expr.as<Binary>();
      f(n->a), f(n->b);
      return;
    }
    case ExprKind::Fma: {
      const auto* n = expr.as<Fma>();
      f(n->a), f(n->b), f(n->c);
      return;
    }
    case ExprKind::Select: {
      const auto* n = expr.as<Select>();
      f(n->condition), f(n->if_true), f(n->if_false);
      return;
    }
    case ExprKind::Call:
      for (const Expr& arg : expr.as<Call>()->args) f(arg);
      return;
    case ExprKind::Load:
      for (const Expr& index : expr.as<Load>()->indices) f(index);
      return;
    case ExprKind::Ramp:
      f(expr.as<Ramp>()->base);
      return;
    case ExprKind::Broadcast:
      f(expr.as<Broadcast>()->value);
      return;
    case ExprKind::VectorReduce:
      f(expr.as<VectorReduce>()->value);
      return;
    case ExprKind::Dot: {
      const auto* n = expr.as<Dot>();
      f(n->sum), f(n->a), f(n->b);
      return;
    }
  }
}

class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void visit(const Expr& expr);  // visits the children
  virtual void visit(const Stmt& stmt);
};

class Rewriter {
 public:
  virtual ~Rewriter() = default;
  virtual Expr rewrite(const Expr& expr) { return rewrite_children(expr); }
  virtual Stmt rewrite(const Stmt& stmt) { return rewrite_children(stmt); }

 protected:
  Expr rewrite_children(const Expr& expr);
  Expr rewrite_optional(const Expr& expr) { return expr.defined() ? rewrite(expr) : expr; }
  Stmt rewrite_children(const Stmt& stmt);
};

// Replaces variables. Unmapped ones stay.
using Substitution = std::unordered_map<VarId, Expr>;
Expr substitute(const Expr& expr, const Substitution& values);
Stmt substitute(const Stmt& stmt, const Substitution& values);

bool uses_var(const Expr& expr, VarId var);
bool uses_var(const Stmt& stmt, VarId var);

}  // namespace tilewright::ir
