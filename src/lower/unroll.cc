#include "lower/unroll.h"

#include "lower/linear_index.h"
#include "lower/stmt_copier.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Stmt;

// Copies each statement once, however deep the unrolled loops nest: values_ maps their variables
// and the variables that copies bind to their values, and is empty outside of unrolled loops.
// Indices are rebuilt as sums with those numbers in the constant.
class Unroller : public StmtCopier {
 public:
  Expr rewrite(const Expr& expr) override {
    if (values_.empty()) return expr;
    const bool is_sum = expr.kind() == ir::ExprKind::Binary && expr.type() == ir::kIndex;
    return is_sum ? canonical_index(expr, &values_) : StmtCopier::rewrite(expr);
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
        return ir::make_for_like(*loop, var, std::move(extent), std::move(body));
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
        return make_branch(condition, std::move(then_body), std::move(else_body));
      }
      case ir::StmtKind::Store: {
        if (values_.empty()) return stmt;
        const Stmt copy = StmtCopier::rewrite(stmt);
        const Expr& predicate = copy.as<ir::Store>()->predicate;
        const int64_t* known = predicate.defined() ? ir::as_int(predicate) : nullptr;
        return known != nullptr && *known == 0 ? Stmt{} : copy;
      }
      case ir::StmtKind::Prefetch:
        return values_.empty() ? stmt : StmtCopier::rewrite(stmt);
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

  int unrolled_around_ = 0;
};

}  // namespace

void unroll(ir::Function& function, const PassContext&) {
  function.body = Unroller().rewrite(function.body);
}

}  // namespace tilewright::lower
