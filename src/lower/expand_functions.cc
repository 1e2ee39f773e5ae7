#include "lower/expand_functions.h"

#include "ir/visit.h"
#include "lower/bindings.h"
#include "lower/expand_erf.h"
#include "lower/expand_exp.h"
#include "lower/expand_log.h"
#include "lower/expand_pow.h"
#include "lower/expand_rsqrt.h"
#include "lower/expand_sigmoid.h"
#include "lower/expand_tanh.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Intrinsic;
using ir::Stmt;

struct Expander {  // of a function of one argument
  Intrinsic function;
  Expr (*expand)(const Expr& x, Bindings& bindings);
};

constexpr Expander kExpanders[] = {
    {Intrinsic::Exp, expand_exp},         {Intrinsic::Log, expand_log},
    {Intrinsic::Tanh, expand_tanh},       {Intrinsic::Erf, expand_erf},
    {Intrinsic::Sigmoid, expand_sigmoid}, {Intrinsic::Rsqrt, expand_rsqrt},
};

// Functions that every back end implements.
bool is_native(Intrinsic function) {
  switch (function) {
    case Intrinsic::Neg:
    case Intrinsic::Abs:
    case Intrinsic::Not:
    case Intrinsic::Floor:
    case Intrinsic::Round:
    case Intrinsic::Sqrt:
    case Intrinsic::Ldexp:
    case Intrinsic::Bitcast:
      return true;
    default:
      return false;
  }
}

const Expander& expander_of(Intrinsic function) {
  for (const Expander& expander : kExpanders) {
    if (expander.function == function) return expander;
  }
  CHECK(false, "no expansion of {}", ir::name_of(function));
}

// True if a speculative evaluation may fail.
bool may_fail(const Expr& expr) {
  if (expr.as<ir::Load>() != nullptr) return true;
  if (const auto* node = expr.as<ir::Binary>()) {
    const bool divides = node->op == ir::BinaryOp::Div || node->op == ir::BinaryOp::Mod;
    if (divides && ir::is_integer(node->type)) return true;
  }
  bool found = false;
  ir::for_each_child(expr, [&](const Expr& child) { found = found || may_fail(child); });
  return found;
}

class FunctionExpander : public ir::Rewriter {
 public:
  Expr rewrite(const Expr& expr) override {
    if (const auto* node = expr.as<ir::Select>()) return rewrite_select(expr, *node);
    const auto* node = expr.as<ir::Call>();
    if (node == nullptr || is_native(node->function)) return rewrite_children(expr);
    const Expr first = rewrite_argument(node->args[0]);
    if (node->function == Intrinsic::Pow) {
      return expand_pow(first, rewrite_argument(node->args[1]), bindings_);
    }
    return expander_of(node->function).expand(first, bindings_);
  }

  Stmt rewrite(const Stmt& stmt) override {
    if (const auto* store = stmt.as<ir::Store>()) {
      Expr value = rewrite(store->value);
      Expr predicate = rewrite_optional(store->predicate);
      if (value.same_as(store->value) && predicate.same_as(store->predicate)) return stmt;
      return bindings_.wrap(ir::make_store(store->buffer, store->indices, std::move(value),
                                           std::move(predicate), store->stream));
    }
    if (const auto* let = stmt.as<ir::Let>()) {
      Expr value = rewrite(let->value);
      Bindings bindings = std::exchange(bindings_, {});
      Stmt body = rewrite(let->body);
      if (value.same_as(let->value) && body.same_as(let->body)) return stmt;
      return bindings.wrap(ir::make_let(let->var, std::move(value), std::move(body)));
    }
    if (const auto* node = stmt.as<ir::If>()) {
      Expr condition = rewrite(node->condition);
      if (condition.same_as(node->condition)) return rewrite_children(stmt);
      Bindings bindings = std::exchange(bindings_, {});
      Stmt then_body = rewrite(node->then_body);
      Stmt else_body = node->else_body.defined() ? rewrite(node->else_body) : Stmt{};
      return bindings.wrap(
          ir::make_if(std::move(condition), std::move(then_body), std::move(else_body)));
    }
    return rewrite_children(stmt);
  }

 private:
  struct Guard {
    Expr condition;
    bool taken;  // in the true arm
  };

  Expr rewrite_select(const Expr& expr, const ir::Select& node) {
    Expr condition = rewrite(node.condition);
    path_.push_back({condition, true});
    Expr if_true = rewrite(node.if_true);
    path_.back().taken = false;
    Expr if_false = rewrite(node.if_false);
    path_.pop_back();
    if (condition.same_as(node.condition) && if_true.same_as(node.if_true) &&
        if_false.same_as(node.if_false)) {
      return expr;
    }
    return ir::select(std::move(condition), std::move(if_true), std::move(if_false));
  }

  // The argument of an expanded function: its bindings are evaluated regardless of the Selects
  // around it.
  Expr rewrite_argument(const Expr& argument) {
    Expr value = rewrite(argument);
    return !path_.empty() && may_fail(value) ? guarded(std::move(value)) : value;
  }

  Expr guarded(Expr value) const {
    const Expr zero = ir::imm(0, value.type());
    for (auto guard = path_.rbegin(); guard != path_.rend(); ++guard) {
      value = guard->taken ? ir::select(guard->condition, std::move(value), zero)
                           : ir::select(guard->condition, zero, std::move(value));
    }
    return value;
  }

  Bindings bindings_;        // of the current statement
  std::vector<Guard> path_;  // conditions of the enclosing Selects, outermost first
};

}  // namespace

void expand_functions(ir::Function& function, const PassContext&) {
  function.body = FunctionExpander().rewrite(function.body);
}

}  // namespace tilewright::lower
