#include "lower/build_nest.h"

#include <algorithm>
#include <bit>

#include "base/rounding.h"
#include "lower/loop_binder.h"
#include "lower/nest_buffers.h"
#include "lower/nest_prefetch.h"
#include "lower/nest_values.h"
#include "lower/stage_body.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Stmt;
using schedule::Annotation;
using schedule::Attachment;
using schedule::BufferIndex;
using schedule::IterKind;
using schedule::kNone;
using schedule::LoopTree;
using schedule::LoopVar;
using schedule::Stage;
using schedule::StageIndex;
using schedule::StageKind;
using schedule::VarIndex;

// The copy of a stage's loops that is being generated: the reduction itself, or the loops inside
// its outermost reduce loop that initialize its accumulators before it, or cast and store them
// after it.
enum class Phase { Main, Init, Finish };

ir::ForKind kind_of(Annotation annotation) {
  switch (annotation) {
    case Annotation::None:
    case Annotation::Stream:  // of the stage's stores
      return ir::ForKind::Serial;
    case Annotation::Parallel:
      return ir::ForKind::Parallel;
    case Annotation::Vectorize:
      return ir::ForKind::Vectorized;
    case Annotation::Unroll:
      return ir::ForKind::Unrolled;
  }
  return ir::ForKind::Serial;
}

class NestBuilder {
 public:
  NestBuilder(const Workload& workload, const Target& target, const LoopTree& tree,
              const schedule::Trace& trace, std::vector<LoopBinding>* bindings)
      : target_(target),
        tree_(tree),
        values_(tree, declare_buffers(workload, target, tree, &function_)),
        binder_(values_, trace, bindings) {}

  ir::Function run() {
    std::vector<Stmt> stmts;
    for (const StageIndex index : tree_.order) {
      const Stage& stage = tree_.stage(index);
      if (stage.kind != StageKind::Input && stage.place == Attachment::Root) {
        stmts.push_back(emit_stage(index));
      }
    }
    Stmt body = ir::make_block(std::move(stmts));
    for (size_t k = 0; k < tree_.buffers.size(); ++k) {
      const schedule::Buffer& buffer = tree_.buffers[k];
      const Stage& writer = tree_.stage(buffer.stage);
      if (buffer.is_argument || writer.place != Attachment::Root) continue;
      body = ir::make_allocate(static_cast<ir::BufferId>(k), body);
    }
    function_.name = "kernel";
    function_.body = body;
    return std::move(function_);
  }

 private:
  bool reduces(const Stage& stage) const {
    return stage.kind != StageKind::Copy && tree_.dag->op(stage.op).has_reduction();
  }

  size_t first_reduce_loop(const Stage& stage) const {
    for (size_t k = 0; k < stage.loops.size(); ++k) {
      if (tree_.var(stage.loops[k]).kind == IterKind::Reduce) return k;
    }
    return stage.loops.size();
  }

  // ---- loops ----

  Stmt emit_stage(StageIndex index) { return emit_loops(index, 0, Phase::Main); }

  // The loops of a stage from `position` inwards.
  Stmt emit_loops(StageIndex index, size_t position, Phase phase) {
    const Stage& stage = tree_.stage(index);
    if (phase == Phase::Main && reduces(stage) && position == first_reduce_loop(stage)) {
      return emit_reduction(index, position);
    }
    return emit_loops_inside(index, position, phase);
  }

  Stmt emit_loops_inside(StageIndex index, size_t position, Phase phase) {
    const Stage& stage = tree_.stage(index);
    if (position == stage.loops.size()) return emit_body(index, phase);
    const VarIndex loop = stage.loops[position];
    const LoopVar& var = values_.live().var(loop);
    const bool skipped = phase != Phase::Main && var.kind == IterKind::Reduce;
    if (skipped) return emit_loops_inside(index, position + 1, phase);

    const int64_t extent = var.extent;
    const Annotation annotation = var.annotation;
    const ThreadAxis bound = var.bound;
    const Expr value = extent > 1 ? binder_.name(loop) : ir::int_imm(0);
    Stmt body = binder_.bind(loop, value, [&] { return emit_loop_body(index, position, phase); });
    if (extent == 1) return body;
    const int64_t trips = trips_of(index, loop, extent);
    if (trips != extent) body = ir::make_if(value < extent, std::move(body));
    if (const schedule::TensorizedLoop* tensorized = tree_.tensorized_around(stage, position)) {
      return tensorized_loop(*tensorized, position, phase,
                             ir::make_for(value, ir::int_imm(extent), ir::ForKind::Serial, body));
    }
    if (bound != ThreadAxis::None) {
      return ir::make_bound_for(value, ir::int_imm(trips), bound, std::move(body));
    }
    return ir::make_for(value, ir::int_imm(trips), kind_of(annotation), std::move(body));
  }

  // Marks the outermost loop of an intrinsic. While accumulators are initialized or stored, and if
  // a tail leaves nothing to mark, the innermost spatial loop is vectorized.
  Stmt tensorized_loop(const schedule::TensorizedLoop& at, size_t position, Phase phase,
                       const Stmt& plain) const {
    const LoopVar& outermost = values_.live().var(at.loop);
    const auto first = static_cast<size_t>(outermost.position);
    const bool is_lanes =
        tree_.intrinsic_axis(tree_.stage(at.stage), position) == schedule::IntrinsicAxis::Lane;
    const bool marked = phase == Phase::Main && outermost.extent > 1;
    const auto* loop = plain.as<ir::For>();
    if (marked && position == first) {
      return ir::make_for(loop->var, loop->extent, ir::ForKind::Tensorized, loop->body,
                          at.intrinsic);
    }
    if (marked || !is_lanes) return plain;
    return ir::make_for(loop->var, loop->extent, ir::ForKind::Vectorized, loop->body);
  }

  // The body of the loop at `position`: prefetches, attached stages, then the inner loops.
  Stmt emit_loop_body(StageIndex index, size_t position, Phase phase) {
    const VarIndex loop = tree_.stage(index).loops[position];
    std::vector<Stmt> stmts;
    std::vector<StageIndex> attached;
    if (phase == Phase::Main) {
      for (const schedule::PrefetchRequest& request : tree_.prefetches) {
        if (request.loop == loop) stmts.push_back(prefetch_statement(request, values_));
      }
      for (const StageIndex other : tree_.order) {
        const Stage& stage = tree_.stage(other);
        if (stage.place != Attachment::At || stage.at_loop != loop) continue;
        stmts.push_back(within_elements(index, other, emit_stage(other)));
        // Inner readers use the locations at which it was written, in all branches that follow.
        values_.live().stage(other).frozen = true;
        attached.push_back(other);
      }
    }
    // Once inside the outermost reduce loop, emit_loops must not start the reduction again.
    const bool inside = phase != Phase::Main || position >= first_reduce_loop(tree_.stage(index));
    stmts.push_back(inside ? emit_loops_inside(index, position + 1, phase)
                           : emit_loops(index, position + 1, phase));
    Stmt block = ir::make_block(std::move(stmts));
    for (const StageIndex other : attached) {
      values_.live().stage(other).frozen = false;
      const Stage& stage = tree_.stage(other);
      for (int k = 0; k < stage.buffers; ++k) {
        block = ir::make_allocate(static_cast<ir::BufferId>(stage.first_buffer + k), block);
      }
    }
    return block;
  }

  // A masked tail runs whole vectors.
  int64_t trips_of(StageIndex index, VarIndex loop, int64_t extent) const {
    const LoopVar& var = tree_.var(loop);
    const bool masked = var.annotation == Annotation::Vectorize &&
                        var.origin == schedule::VarOrigin::Part &&
                        schedule::tail_of(tree_.var(var.parent)) == schedule::Tail::Mask;
    if (!masked) return extent;
    const int bytes = ir::bytes_of(tree_.buffer(tree_.stage(index).first_buffer).element);
    const auto vector = static_cast<uint64_t>(std::max(1, target_.lanes(bytes)));
    const uint64_t lanes = std::min(vector, std::bit_ceil(static_cast<uint64_t>(extent)));
    return round_up(extent, static_cast<int64_t>(lanes));
  }

  // A stage attached inside a padded tile, at another location for each element, is computed only
  // for elements that exist.
  Stmt within_elements(StageIndex index, StageIndex attached, Stmt stmt) const {
    const auto depends_on = [&](const Expr& guard, IterKind kind) {
      for (const arith::Affine& origin : values_.live().stage(attached).origin) {
        for (const arith::Term& term : origin.terms) {
          const auto var = static_cast<VarIndex>(term.var);
          // A member of a fusion is named by a Let, which does not show its loops. A fold is
          // guarded as a whole, so the value may be absent.
          const bool is_member = values_.live().var(var).fused_into != kNone;
          if (kind == IterKind::Reduce && is_member) return true;
          if (shares_variable(guard, values_.value(var))) return true;
        }
      }
      return false;
    };
    for (const IterKind kind : {IterKind::Spatial, IterKind::Reduce}) {
      for (const Expr& guard : values_.element_guards(index, kind)) {
        if (depends_on(guard, kind)) stmt = ir::make_if(guard, stmt);
      }
    }
    return stmt;
  }

  // ---- reductions and bodies ----

  // Before the outermost reduce loop: sets accumulators to the identity. After it, if accumulators
  // have another type than the buffer: casts and stores.
  Stmt emit_reduction(StageIndex index, size_t position) {
    const Stage& stage = tree_.stage(index);
    const te::Reduction& reduction = *tree_.dag->op(stage.op).reduction;
    bool apart = false;
    for (size_t k = 0; k < stage.buffers; ++k) {
      const auto buffer = static_cast<BufferIndex>(stage.first_buffer + static_cast<int>(k));
      apart |= tree_.buffer(buffer).element != reduction.identity[k].type().scalar;
    }
    const ir::BufferId saved = accumulator_;
    const size_t saved_loops = accumulator_loops_;
    accumulator_ = apart ? declare_accumulators(target_, tree_, stage, position, &function_)
                         : static_cast<ir::BufferId>(stage.first_buffer);
    accumulator_loops_ = apart ? position : SIZE_MAX;
    std::vector<Stmt> stmts;
    stmts.push_back(emit_loops_inside(index, position, Phase::Init));
    stmts.push_back(emit_loops_inside(index, position, Phase::Main));
    if (apart) stmts.push_back(emit_loops_inside(index, position, Phase::Finish));
    Stmt block = ir::make_block(std::move(stmts));
    for (size_t k = 0; apart && k < stage.buffers; ++k) {
      block = ir::make_allocate(accumulator_ + static_cast<ir::BufferId>(k), block);
    }
    accumulator_ = saved;
    accumulator_loops_ = saved_loops;
    return block;
  }

  Stmt emit_body(StageIndex index, Phase phase) {
    const Stage& stage = tree_.stage(index);
    BodyContext context{.tree = values_.live(),
                        .stage = index,
                        .axes = values_.axis_values(index),
                        .locate =
                            [this](BufferIndex buffer, const std::vector<Expr>& indices) {
                              return values_.locate(buffer, indices);
                            },
                        .accumulator = accumulator_,
                        .accumulator_indices = {},
                        .own_indices = {}};
    std::vector<Expr> own;
    for (const VarIndex dim : stage.dims) {
      own.push_back(values_.simplified(values_.local_value(dim)));
    }
    context.own_indices = values_.digits_of(stage.first_buffer, own);
    context.read_guards = values_.element_guards(index, IterKind::Spatial);
    context.fold_guards = values_.element_guards(index, IterKind::Reduce);
    if (!reduces(stage)) return value_statement(context);
    context.accumulator_indices = context.own_indices;
    if (accumulator_ != static_cast<ir::BufferId>(stage.first_buffer)) {
      context.accumulator_indices = scratch_indices(stage);
    }
    if (phase == Phase::Init) return init_statement(context);
    if (phase == Phase::Finish) return finish_statement(context);
    return update_statement(context);
  }

  std::vector<Expr> scratch_indices(const Stage& stage) const {
    std::vector<Expr> indices;
    for (size_t p = accumulator_loops_; p < stage.loops.size(); ++p) {
      if (tree_.var(stage.loops[p]).kind != IterKind::Spatial) continue;
      indices.push_back(values_.value(stage.loops[p]));
    }
    if (indices.empty()) indices.push_back(ir::int_imm(0));
    return indices;
  }

  const Target& target_;
  const LoopTree& tree_;  // the numbers that determine the sizes of buffers
  ir::Function function_;
  NestValues values_;
  LoopBinder binder_;
  ir::BufferId accumulator_ = 0;
  size_t accumulator_loops_ = SIZE_MAX;
};

}  // namespace

ir::Function build_nest(const Workload& workload, const Target& target, const LoopTree& tree,
                        const schedule::Trace& trace, std::vector<LoopBinding>* bindings) {
  ir::Function function = NestBuilder(workload, target, tree, trace, bindings).run();
  function.denormals = workload.permissions.denormals;
  return function;
}

}  // namespace tilewright::lower
