#include "lower/vectorize.h"

#include <bit>

#include "ir/visit.h"
#include "lower/conditions.h"
#include "lower/lane_analysis.h"
#include "lower/vectorize_body.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Stmt;

constexpr int64_t kMaxUnrolledScalars = 64;

// Finds divisions of integers that trap for some operands: inactive lanes must not execute them.
class TrapFinder : public ir::Visitor {
 public:
  using ir::Visitor::visit;

  bool found = false;

  void visit(const Expr& expr) override {
    const auto* node = expr.as<ir::Binary>();
    const bool divides =
        node != nullptr && (node->op == ir::BinaryOp::Div || node->op == ir::BinaryOp::Mod);
    found = found || (divides && ir::is_integer(expr.type()) && ir::as_int(node->b) == nullptr);
    ir::Visitor::visit(expr);
  }
};

bool may_trap(const Stmt& body) {
  TrapFinder finder;
  finder.visit(body);
  return finder.found;
}

class Vectorizer : public ir::Rewriter {
 public:
  Vectorizer(const ir::Function& function, const PassContext& context)
      : function_(function), context_(context) {}

  Expr rewrite(const Expr& expr) override { return expr; }
  Stmt rewrite(const Stmt& stmt) override {
    const auto* loop = stmt.as<ir::For>();
    if (loop == nullptr) return rewrite_children(stmt);
    const int64_t* extent = ir::as_int(loop->extent);
    if (extent != nullptr && *extent > 0) {
      bounds_[loop->var.as<ir::Var>()->id] = {0, *extent - 1};
    }
    if (loop->loop_kind != ir::ForKind::Vectorized) return rewrite_children(stmt);
    CHECK(extent != nullptr, "vectorized loop `{}` has no constant extent",
          loop->var.as<ir::Var>()->name.text());
    const LaneAnalysis lanes = analyze_lanes(*loop, function_, context_.permissions);
    if (!lanes.lockstep) return scalarized(*loop, *extent);
    return in_vectors(*loop, *extent, context_.target.lanes(lanes.widest_bytes));
  }

 private:
  Stmt scalarized(const ir::For& loop, int64_t extent) {
    const ir::ForKind kind =
        extent <= kMaxUnrolledScalars ? ir::ForKind::Unrolled : ir::ForKind::Serial;
    return ir::make_for(loop.var, loop.extent, kind, rewrite(loop.body));
  }

  Stmt in_vectors(const ir::For& loop, int64_t extent, int64_t lanes) {
    const bool masks = context_.target.has(Capability::MaskedLanes) && !may_trap(loop.body);
    std::vector<Stmt> pieces;
    const int64_t whole = extent / lanes;
    const bool in_a_loop = whole > 1 && !has_conditions(loop.body);  // they differ by vector
    if (in_a_loop) {
      const auto* old = loop.var.as<ir::Var>();
      const Expr var(new ir::Var(old->type, ir::fresh_var_id(), old->name));
      bounds_[var.as<ir::Var>()->id] = {0, whole - 1};
      const auto all = static_cast<unsigned>(lanes);
      Stmt body = vectorize_body(loop, var * lanes, all, bounds_, all);
      if (body.defined()) {
        pieces.push_back(
            ir::make_for(var, ir::int_imm(whole), ir::ForKind::Unrolled, std::move(body)));
      }
    }
    int64_t done = in_a_loop ? whole * lanes : 0;
    while (done < extent) {
      const auto rest = static_cast<unsigned>(std::min(extent - done, lanes));
      const bool masked = masks && !std::has_single_bit(rest);
      const unsigned width = masked ? std::bit_ceil(rest) : std::bit_floor(rest);
      const unsigned active = std::min(width, rest);
      pieces.push_back(vectorize_body(loop, ir::int_imm(done), width, bounds_, active));
      done += active;
    }
    return ir::make_block(std::move(pieces));
  }

  const ir::Function& function_;
  const PassContext& context_;
  arith::Bounds bounds_;  // of all loops visited; variables are bound once
};

}  // namespace

void vectorize(ir::Function& function, const PassContext& context) {
  function.body = Vectorizer(function, context).rewrite(function.body);
}

}  // namespace tilewright::lower
