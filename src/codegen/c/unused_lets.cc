#include "codegen/c/unused_lets.h"

#include <unordered_set>

#include "ir/visit.h"

namespace tilewright::codegen {
namespace {

// Collects the variables that the statements rewritten so far read; Lets are rewritten from the
// inside out. A variable that is bound more than once counts as read if any of its bindings is.
class UnusedLets : public ir::Rewriter {
 public:
  ir::Expr rewrite(const ir::Expr& expr) override {
    if (!seen_.insert(expr.get()).second) return expr;
    if (const auto* var = expr.as<ir::Var>()) read_.insert(var->id);
    return rewrite_children(expr);
  }

  ir::Stmt rewrite(const ir::Stmt& stmt) override {
    const auto* let = stmt.as<ir::Let>();
    if (let == nullptr) return rewrite_children(stmt);
    ir::Stmt body = rewrite(let->body);
    if (!read_.contains(let->var.as<ir::Var>()->id)) return body;
    rewrite(let->value);
    return body.same_as(let->body) ? stmt : ir::make_let(let->var, let->value, std::move(body));
  }

 private:
  std::unordered_set<ir::VarId> read_;
  std::unordered_set<const ir::Node*> seen_;  // expressions are dags
};

}  // namespace

ir::Stmt without_unused_lets(const ir::Stmt& stmt) {
  return stmt.defined() ? UnusedLets().rewrite(stmt) : stmt;
}

}  // namespace tilewright::codegen
