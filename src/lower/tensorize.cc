#include "lower/tensorize.h"

#include <optional>

#include "ir/visit.h"
#include "lower/lane_analysis.h"
#include "lower/linear_index.h"
#include "lower/reduction_store.h"
#include "schedule/intrinsics.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Stmt;
using schedule::IntrinsicOperands;
using schedule::TensorIntrinsic;

// A loop over lanes, the loop over factors inside it, and the sum that is all it holds.
struct Fold {
  ir::VarId lane = 0, factor = 0;
  int64_t lanes = 0, factors = 0;
  const ir::Store* store = nullptr;
  ReductionStore sum;
};

std::optional<Fold> match_fold(const ir::For& lanes) {
  const auto* factors = lanes.body.as<ir::For>();
  if (factors == nullptr || factors->loop_kind != ir::ForKind::Serial) return {};
  const int64_t *outer = ir::as_int(lanes.extent), *inner = ir::as_int(factors->extent);
  const auto* store = factors->body.as<ir::Store>();
  if (outer == nullptr || inner == nullptr || store == nullptr) return {};
  const std::optional<ReductionStore> sum = match_reduction(*store);
  if (!sum || sum->op != ir::BinaryOp::Add) return {};
  return Fold{.lane = lanes.var.as<ir::Var>()->id,
              .factor = factors->var.as<ir::Var>()->id,
              .lanes = *outer,
              .factors = *inner,
              .store = store,
              .sum = *sum};
}

// Where an access that moves by these steps along the two loops begins; null when it does not.
Expr start_of(const Expr& index, const Fold& fold, int64_t lane_step, int64_t factor_step) {
  LinearIndex sum = linear_of(index);
  if (sum.coefficient_of(fold.lane) != lane_step) return {};
  if (sum.coefficient_of(fold.factor) != factor_step) return {};
  sum.erase(fold.lane);
  sum.erase(fold.factor);
  const Expr start = to_expr(sum);
  return uses_any(start, {fold.lane, fold.factor}) ? Expr() : start;
}

Stmt with_operands(const TensorIntrinsic& intrinsic, const Fold& fold,
                   const IntrinsicOperands& loads) {
  std::array<Expr, 2> operands;
  for (size_t k = 0; k < operands.size(); ++k) {
    const int64_t lane_step = intrinsic.lane_step(k);
    const Expr start = start_of(loads[k]->indices[0], fold, lane_step, intrinsic.factor_step(k));
    if (!start.defined()) return {};
    const int64_t elements = lane_step == 0 ? fold.factors : fold.factors * fold.lanes;
    operands[k] = ir::load(loads[k]->type.scalar, loads[k]->buffer,
                           {ir::ramp(start, 1, static_cast<unsigned>(elements))});
  }
  const Expr start = start_of(fold.store->indices[0], fold, 1, 0);
  if (!start.defined()) return {};
  const Expr where = ir::ramp(start, 1, static_cast<unsigned>(fold.lanes));
  const Expr sum = ir::load(fold.store->value.type().scalar, fold.store->buffer, {where});
  return ir::make_store(fold.store->buffer, {where}, ir::dot(sum, operands[0], operands[1]));
}

// Null when no intrinsic computes it.
Stmt by_intrinsic(const Fold& fold) {
  for (const TensorIntrinsic& intrinsic : schedule::all_intrinsics()) {
    if (intrinsic.lanes() != fold.lanes || intrinsic.factors() != fold.factors) continue;
    for (const IntrinsicOperands& loads : schedule::match_operands(intrinsic, fold.sum.value)) {
      if (Stmt stmt = with_operands(intrinsic, fold, loads); stmt.defined()) return stmt;
    }
  }
  return {};
}

class Tensorizer : public ir::Rewriter {
 public:
  Expr rewrite(const Expr& expr) override { return expr; }
  Stmt rewrite(const Stmt& stmt) override {
    const auto* loop = stmt.as<ir::For>();
    if (loop == nullptr || loop->loop_kind != ir::ForKind::Tensorized) {
      return rewrite_children(stmt);
    }
    if (const std::optional<Fold> fold = match_fold(*loop)) {
      if (Stmt whole = by_intrinsic(*fold); whole.defined()) return whole;
    }
    return ir::make_for(loop->var, loop->extent, ir::ForKind::Vectorized, loop->body);
  }
};

}  // namespace

void tensorize(ir::Function& function, const PassContext&) {
  function.body = Tensorizer().rewrite(function.body);
}

}  // namespace tilewright::lower
