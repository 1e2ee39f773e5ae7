#include "lower/vectorise.h"

#include <bit>

#include "ir/visit.h"
#include "lower/lane_analysis.h"
#include "lower/linear_index.h"
#include "lower/reduction_store.h"

namespace tilewright::lower {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;

constexpr int64_t kMaxUnrolledScalars = 64;

// Copies the body of a loop for the `lanes` iterations from `base` on. An expression that does not
// depend on the loop variable stays scalar and is broadcast where it meets a vector.
class Widener {
 public:
  Widener(const ir::For& loop, Expr base, unsigned lanes)
      : var_(loop.var.as<ir::Var>()->id), base_(std::move(base)), lanes_(lanes) {
    if (lanes_ == 1) values_[var_] = base_;
  }

  Stmt widen(const Stmt& stmt);

 private:
  Expr widen(const Expr& expr);
  Expr widen_binary(BinaryOp op, Expr a, Expr b);
  Expr widen_select(const ir::Select& node);
  Expr widen_load(const ir::Load& load);
  Expr widen_index(const Expr& index);
  Stmt widen_store(const ir::Store& store);

  // Each of the operands with as many lanes as the widest.
  template <class... Exprs>
  static void match_lanes(Exprs&... exprs) {
    const unsigned lanes = std::max({exprs.type().lanes...});
    ((exprs = exprs.type().lanes == lanes ? exprs : ir::broadcast(exprs, lanes)), ...);
  }

  Expr fresh(const Expr& var, ir::Type type) {
    const auto* node = var.as<ir::Var>();
    return values_[node->id] = Expr(new ir::Var(type, ir::fresh_var_id(), node->name));
  }

  bool varies(const Expr& expr) const {
    if (expr.type().is_vector()) return true;
    if (const auto* var = expr.as<ir::Var>()) return var->id == var_;
    bool found = false;
    ir::for_each_child(expr, [&](const Expr& child) { found = found || varies(child); });
    return found;
  }

  ir::VarId var_;
  Expr base_;
  unsigned lanes_;
  ir::Substitution values_;  // bound variables -> those of this copy
  bool masked_ = false;      // in an arm of a Select whose lanes differ
};

Expr Widener::widen(const Expr& expr) {
  switch (expr.kind()) {
    case ir::ExprKind::IntImm:
    case ir::ExprKind::FloatImm:
      return expr;
    case ir::ExprKind::Var: {
      const ir::VarId id = expr.as<ir::Var>()->id;
      const auto found = values_.find(id);
      if (found != values_.end()) return found->second;
      return id == var_ ? ir::ramp(base_, 1, lanes_) : expr;
    }
    case ir::ExprKind::Cast: {
      const auto* node = expr.as<ir::Cast>();
      return ir::cast(node->type.scalar, widen(node->value));
    }
    case ir::ExprKind::Binary: {
      const auto* node = expr.as<ir::Binary>();
      return widen_binary(node->op, widen(node->a), widen(node->b));
    }
    case ir::ExprKind::Fma: {
      const auto* node = expr.as<ir::Fma>();
      Expr a = widen(node->a), b = widen(node->b), c = widen(node->c);
      match_lanes(a, b, c);
      return ir::fma(std::move(a), std::move(b), std::move(c));
    }
    case ir::ExprKind::Select:
      return widen_select(*expr.as<ir::Select>());
    case ir::ExprKind::Call: {
      const auto* node = expr.as<ir::Call>();
      if (node->args.size() == 2) {
        Expr a = widen(node->args[0]), b = widen(node->args[1]);
        match_lanes(a, b);
        return ir::call(node->function, {std::move(a), std::move(b)});
      }
      Expr a = widen(node->args[0]);
      if (node->function == ir::Intrinsic::Bitcast) return ir::bitcast(node->type.scalar, a);
      return ir::call(node->function, {std::move(a)});
    }
    case ir::ExprKind::Load:
      return widen_load(*expr.as<ir::Load>());
    case ir::ExprKind::Ramp:
    case ir::ExprKind::Broadcast:
    case ir::ExprKind::VectorReduce:
      break;
  }
  CHECK(false, "a vector in a loop to be vectorised");
}

// A ramp plus or times a scalar stays a ramp.
Expr Widener::widen_binary(BinaryOp op, Expr a, Expr b) {
  const auto* ramp = a.as<ir::Ramp>();
  if (ramp != nullptr && !b.type().is_vector()) {
    const int64_t* factor = ir::as_int(b);
    if (op == BinaryOp::Add) return ir::ramp(ramp->base + b, ramp->stride, lanes_);
    if (op == BinaryOp::Sub) return ir::ramp(ramp->base - b, ramp->stride, lanes_);
    if (op == BinaryOp::Mul && factor != nullptr) {
      return ir::ramp(ramp->base * *factor, ramp->stride * *factor, lanes_);
    }
  }
  match_lanes(a, b);
  return ir::binary(op, std::move(a), std::move(b));
}

Expr Widener::widen_select(const ir::Select& node) {
  Expr condition = widen(node.condition);
  const bool outer = std::exchange(masked_, masked_ || condition.type().is_vector());
  Expr if_true = widen(node.if_true), if_false = widen(node.if_false);
  masked_ = outer;
  match_lanes(condition, if_true, if_false);
  return ir::select(std::move(condition), std::move(if_true), std::move(if_false));
}

Expr Widener::widen_load(const ir::Load& load) {
  Expr index = widen_index(load.indices[0]);
  // A scalar load would be evaluated even if no lane takes this arm.
  if (masked_ && !index.type().is_vector()) index = ir::broadcast(std::move(index), lanes_);
  return ir::load(load.type.scalar, load.buffer, {std::move(index)});
}

Expr Widener::widen_index(const Expr& index) {
  LinearIndex sum = linear_of(index, &values_);
  const int64_t stride = sum.coefficient_of(var_);
  sum.erase(var_);
  for (const LinearTerm& term : sum.terms) {
    if (varies(term.factor)) {
      Expr gathered = widen(index);
      return gathered.type().is_vector() ? gathered : ir::broadcast(gathered, lanes_);
    }
  }
  if (stride == 0) return to_expr(sum);
  const LinearIndex start = linear_of(base_);
  sum.constant += stride * start.constant;
  for (const LinearTerm& term : start.terms) sum.add(term.factor, stride * term.coefficient);
  return ir::ramp(to_expr(sum), stride, lanes_);
}

Stmt Widener::widen_store(const ir::Store& store) {
  Expr index = widen_index(store.indices[0]);
  if (index.type().is_vector() || lanes_ == 1) {
    Expr value = widen(store.value);
    if (value.type().lanes != lanes_) value = ir::broadcast(std::move(value), lanes_);
    return ir::make_store(store.buffer, {std::move(index)}, std::move(value));
  }
  const ReductionStore reduction = *match_reduction(store);
  Expr value = widen(reduction.value);
  if (!value.type().is_vector()) value = ir::broadcast(std::move(value), lanes_);
  Expr self = ir::load(store.value.type().scalar, store.buffer, {index});
  Expr folded = ir::vector_reduce(reduction.op, std::move(value));
  return ir::make_store(store.buffer, {std::move(index)},
                        ir::binary(reduction.op, std::move(self), std::move(folded)));
}

Stmt Widener::widen(const Stmt& stmt) {
  if (!stmt.defined()) return {};
  switch (stmt.kind()) {
    case ir::StmtKind::Store:
      return widen_store(*stmt.as<ir::Store>());
    case ir::StmtKind::Let: {
      const auto* let = stmt.as<ir::Let>();
      Expr value = widen(let->value);
      const Expr var = fresh(let->var, value.type());
      return ir::make_let(var, std::move(value), widen(let->body));
    }
    case ir::StmtKind::For: {
      const auto* loop = stmt.as<ir::For>();
      Expr extent = widen(loop->extent);
      const Expr var = fresh(loop->var, ir::kIndex);
      return ir::make_for(var, std::move(extent), loop->loop_kind, widen(loop->body));
    }
    case ir::StmtKind::If: {
      const auto* node = stmt.as<ir::If>();
      return ir::make_if(widen(node->condition), widen(node->then_body), widen(node->else_body));
    }
    case ir::StmtKind::Block: {
      std::vector<Stmt> stmts;
      for (const Stmt& child : stmt.as<ir::Block>()->stmts) stmts.push_back(widen(child));
      return ir::make_block(std::move(stmts));
    }
    case ir::StmtKind::Allocate:
      break;
  }
  CHECK(false, "an Allocate in a loop to be vectorised");
}

class Vectoriser : public ir::Rewriter {
 public:
  Vectoriser(const ir::Function& function, const PassContext& context)
      : function_(function), context_(context) {}

  Expr rewrite(const Expr& expr) override { return expr; }
  Stmt rewrite(const Stmt& stmt) override {
    const auto* loop = stmt.as<ir::For>();
    if (loop == nullptr || loop->loop_kind != ir::ForKind::Vectorised) {
      return rewrite_children(stmt);
    }
    const int64_t* extent = ir::as_int(loop->extent);
    CHECK(extent != nullptr, "vectorised loop `{}` has no constant extent",
          loop->var.as<ir::Var>()->name.text());
    const LaneAnalysis lanes = analyse_lanes(*loop, function_, context_.licences);
    if (!lanes.lockstep) return scalarised(*loop, *extent);
    return in_vectors(*loop, *extent, context_.target.lanes(lanes.widest_bytes));
  }

 private:
  Stmt scalarised(const ir::For& loop, int64_t extent) {
    const ir::ForKind kind =
        extent <= kMaxUnrolledScalars ? ir::ForKind::Unrolled : ir::ForKind::Serial;
    return ir::make_for(loop.var, loop.extent, kind, rewrite(loop.body));
  }

  static Stmt in_vectors(const ir::For& loop, int64_t extent, int64_t lanes) {
    std::vector<Stmt> pieces;
    const int64_t whole = extent / lanes;
    if (whole > 1) {
      const auto* old = loop.var.as<ir::Var>();
      const Expr var(new ir::Var(old->type, ir::fresh_var_id(), old->name));
      Widener widener(loop, var * lanes, static_cast<unsigned>(lanes));
      pieces.push_back(
          ir::make_for(var, ir::int_imm(whole), ir::ForKind::Unrolled, widener.widen(loop.body)));
    }
    int64_t done = whole > 1 ? whole * lanes : 0;
    while (done < extent) {
      const int64_t rest = extent - done;
      const uint64_t width = std::min<uint64_t>(static_cast<uint64_t>(lanes),
                                                std::bit_floor(static_cast<uint64_t>(rest)));
      Widener widener(loop, ir::int_imm(done), static_cast<unsigned>(width));
      pieces.push_back(widener.widen(loop.body));
      done += static_cast<int64_t>(width);
    }
    return ir::make_block(std::move(pieces));
  }

  const ir::Function& function_;
  const PassContext& context_;
};

}  // namespace

void vectorise(ir::Function& function, const PassContext& context) {
  function.body = Vectoriser(function, context).rewrite(function.body);
}

}  // namespace tilewright::lower
