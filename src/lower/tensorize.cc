#include "lower/tensorize.h"

#include <optional>
#include <set>

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

// Perfectly nested loops, and the sum that is the body of the innermost.
struct Fold {
  std::vector<ir::VarId> vars;  // outermost first
  std::vector<int64_t> extents;
  const ir::Store* store = nullptr;
  ReductionStore sum;
};

std::optional<Fold> match_fold(const ir::For& outermost) {
  Fold fold;
  for (const ir::For* loop = &outermost; loop != nullptr; loop = loop->body.as<ir::For>()) {
    const bool plain = loop == &outermost || loop->loop_kind == ir::ForKind::Serial;
    const int64_t* extent = ir::as_int(loop->extent);
    if (!plain || extent == nullptr) return {};
    fold.vars.push_back(loop->var.as<ir::Var>()->id);
    fold.extents.push_back(*extent);
    fold.store = loop->body.as<ir::Store>();
  }
  if (fold.store == nullptr) return {};
  const std::optional<ReductionStore> sum = match_reduction(*fold.store);
  if (!sum || sum->op != ir::BinaryOp::Add) return {};
  fold.sum = *sum;
  return fold;
}

// The elements of an operand along one axis of the intrinsic: their number and their distance in
// memory.
struct Extent {
  int64_t count;
  int64_t step;
};

// Replaces a fold by its intrinsic, if it matches.
class IntrinsicWriter {
 public:
  IntrinsicWriter(const TensorIntrinsic& intrinsic, const Fold& fold)
      : intrinsic_(intrinsic), fold_(fold) {}

  // Null if the loops do not match the intrinsic.
  Stmt run() const {
    if (fold_.vars.size() != intrinsic_.axes()) return {};
    for (size_t axis = 0; axis < intrinsic_.axes(); ++axis) {
      if (fold_.extents[axis] != intrinsic_.extent(axis)) return {};
    }
    for (const IntrinsicOperands& loads : match_operands(intrinsic_, fold_.sum.value)) {
      if (Stmt stmt = with_operands(loads); stmt.defined()) return stmt;
    }
    return {};
  }

 private:
  Stmt with_operands(const IntrinsicOperands& loads) const {
    std::array<Expr, 2> operands;
    for (size_t k = 0; k < operands.size(); ++k) {
      const Expr where = elements_of(loads[k]->indices[0], k);
      if (!where.defined()) return {};
      operands[k] = ir::load(loads[k]->type.scalar, loads[k]->buffer, {where});
    }
    const ir::BufferId to = fold_.store->buffer;
    const Expr where = elements_of(fold_.store->indices[0], TensorIntrinsic::kResult);
    if (!where.defined()) return {};
    const Expr sum = ir::load(fold_.store->value.type().scalar, to, {where});
    const auto rows = static_cast<unsigned>(intrinsic_.rows());
    return ir::make_store(
        to, {where},
        ir::dot(sum, operands[0], operands[1], rows, intrinsic_.name, intrinsic_.rounding));
  }

  // The indices of the elements that an access touches in the loops: for the result by rows and
  // lanes, for the operands by rows or lanes and factors. Null if its steps differ from those of
  // the intrinsic.
  Expr elements_of(const Expr& index, size_t operand) const {
    LinearIndex sum = linear_of(index);
    std::vector<Extent> extents;
    for (size_t axis = 0; axis < intrinsic_.axes(); ++axis) {
      const int64_t step = sum.coefficient_of(fold_.vars[axis]);
      if (!intrinsic_.fits(operand, axis, step)) return {};
      if (step != 0) extents.push_back({fold_.extents[axis], step});
      sum.erase(fold_.vars[axis]);
    }
    const Expr start = to_expr(sum);
    if (uses_any(start, {fold_.vars.begin(), fold_.vars.end()})) return {};
    return vector_index(start, extents);
  }

  static Expr vector_index(const Expr& start, const std::vector<Extent>& extents) {
    int64_t count = 1;
    bool dense = true;
    for (size_t k = extents.size(); k-- > 0; count *= extents[k].count) {
      dense = dense && extents[k].step == count;
    }
    const auto lanes = static_cast<unsigned>(count);
    if (dense) return ir::ramp(start, 1, lanes);
    const auto number = [&](int64_t value) {
      return ir::int_imm(value, ir::kIndex.with_lanes(lanes));
    };
    const Expr lane = ir::ramp(ir::int_imm(0), 1, lanes);
    Expr index = ir::broadcast(start, lanes);
    int64_t below = count;
    for (const Extent& extent : extents) {
      below /= extent.count;
      Expr digit = lane;
      if (below != 1) digit = ir::binary(ir::BinaryOp::Div, digit, number(below));
      if (&extent != &extents.front()) {
        digit = ir::binary(ir::BinaryOp::Mod, digit, number(extent.count));
      }
      if (extent.step != 1) digit = ir::binary(ir::BinaryOp::Mul, digit, number(extent.step));
      index = ir::binary(ir::BinaryOp::Add, index, digit);
    }
    return index;
  }

  const TensorIntrinsic& intrinsic_;
  const Fold& fold_;
};

// The innermost of the `spatial` loops is vectorized, the outer ones are plain. If some loop of the
// intrinsic had one iteration and was removed, all are plain, because the lane loop is unknown.
Stmt without_intrinsic(const ir::For& loop, size_t spatial, size_t axes) {
  size_t loops = 0;
  for (const ir::For* at = &loop; at != nullptr; at = at->body.as<ir::For>()) ++loops;
  const bool lanes = spatial == 1;
  const bool descends = !lanes && loops == axes;
  Stmt body =
      descends ? without_intrinsic(*loop.body.as<ir::For>(), spatial - 1, axes - 1) : loop.body;
  const ir::ForKind kind = lanes ? ir::ForKind::Vectorized : ir::ForKind::Serial;
  return ir::make_for(loop.var, loop.extent, kind, std::move(body));
}

class Tensorizer : public ir::Rewriter {
 public:
  explicit Tensorizer(schedule::IntrinsicTable intrinsics) : intrinsics_(intrinsics) {}

  Expr rewrite(const Expr& expr) override { return expr; }
  Stmt rewrite(const Stmt& stmt) override {
    const auto* loop = stmt.as<ir::For>();
    if (loop == nullptr || loop->loop_kind != ir::ForKind::Tensorized) {
      return rewrite_children(stmt);
    }
    const TensorIntrinsic* intrinsic = schedule::find_intrinsic(loop->intrinsic, intrinsics_);
    CHECK(intrinsic != nullptr, "no intrinsic `{}`", loop->intrinsic.text());
    if (const std::optional<Fold> fold = match_fold(*loop)) {
      if (Stmt whole = IntrinsicWriter(*intrinsic, *fold).run(); whole.defined()) return whole;
    }
    return without_intrinsic(*loop, intrinsic->spatial_axes(), intrinsic->axes());
  }

 private:
  schedule::IntrinsicTable intrinsics_;
};

}  // namespace

void tensorize(ir::Function& function, const PassContext& context) {
  function.body = Tensorizer(context.intrinsics).rewrite(function.body);
}

}  // namespace tilewright::lower
