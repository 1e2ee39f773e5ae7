#include "lower/build_nest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "arith/simplify.h"
#include "base/check.h"
#include "lower/stage_body.h"
#include "schedule/numbers.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Stmt;
using schedule::Annotation;
using schedule::BufferIndex;
using schedule::IterKind;
using schedule::kNone;
using schedule::LoopTree;
using schedule::LoopVar;
using schedule::Place;
using schedule::Stage;
using schedule::StageIndex;
using schedule::StageKind;
using schedule::VarIndex;

constexpr int64_t kStackBytes = 16 * 1024;  // an attached buffer up to this lives on the stack

// Which copy of a stage's loops is being written: the reduction itself, or the loops inside its
// outermost reduce loop that initialise its accumulators before, or cast and store them after.
enum class Phase { Main, Init, Finish };

class NestBuilder {
 public:
  NestBuilder(const Workload& workload, const Target& target, const LoopTree& tree,
              const schedule::Trace& trace, std::vector<LoopBinding>* bindings)
      : workload_(workload),
        vector_bytes_(target.vector_bits / 8),
        tree_(tree),
        live_(tree),
        trace_(trace),
        bindings_(bindings),
        values_(tree.vars.size()) {
    live_.lowering = true;
  }

  ir::Function run() {
    declare_buffers();
    std::vector<Stmt> stmts;
    for (const StageIndex index : tree_.order) {
      const Stage& stage = tree_.stage(index);
      if (stage.kind != StageKind::Input && stage.place == Place::Root) {
        stmts.push_back(emit_stage(index));
      }
    }
    Stmt body = ir::make_block(std::move(stmts));
    for (size_t k = 0; k < tree_.buffers.size(); ++k) {
      const schedule::Buffer& buffer = tree_.buffers[k];
      const Stage& writer = tree_.stage(buffer.stage);
      if (buffer.is_argument || writer.place != Place::Root) continue;
      body = ir::make_allocate(static_cast<ir::BufferId>(k), body);
    }
    function_.name = "kernel";
    function_.body = body;
    return std::move(function_);
  }

 private:
  // ---- buffers ----

  void declare_buffers() {
    for (size_t k = 0; k < tree_.buffers.size(); ++k) {
      const schedule::Buffer& buffer = tree_.buffers[k];
      const Stage& writer = tree_.stage(buffer.stage);
      ir::Buffer out{.name = writer.name.text(), .element = {buffer.element, 1}, .shape = {}};
      if (writer.buffers > 1) out.name += "." + std::to_string(buffer.output);
      layouts_.push_back(schedule::layout_of(tree_, static_cast<BufferIndex>(k)));
      for (const layout::Digit& digit : layouts_.back().digits) out.shape.push_back(digit.extent);
      if (!buffer.is_argument) out.scope = scope_of(writer, out);
      out.finite = is_finite(buffer);
      function_.buffers.push_back(std::move(out));
    }
    for (const Operand& operand : workload_.operands) {
      function_.arguments.push_back(operand.tensor);  // buffer k holds tensor k
      function_.buffers[operand.tensor].alignment = operand.alignment;
      function_.argument_written.push_back(operand.role == Role::Output);
    }
  }

  // A constant of the workload, or a copy of one.
  bool is_finite(const schedule::Buffer& buffer) const {
    if (buffer.is_constant) return true;
    const Stage& writer = tree_.stage(buffer.stage);
    return writer.kind == StageKind::Copy && writer.accesses == 1 &&
           tree_.buffer(tree_.reads_of(writer)[0].buffer).is_constant;
  }

  ir::Scope scope_of(const Stage& writer, const ir::Buffer& buffer) const {
    if (writer.place != Place::At) return ir::Scope::Workspace;
    if (buffer.elements() * ir::bytes_of(buffer.element.scalar) <= kStackBytes) {
      return ir::Scope::Stack;
    }
    return parallel_around(writer) ? ir::Scope::Thread : ir::Scope::Workspace;
  }

  bool parallel_around(const Stage& attached) const {
    for (const Stage* stage = &attached; stage->place == Place::At;) {
      const Stage& target = tree_.stage(stage->at_stage);
      for (int k = 0; k <= tree_.var(stage->at_loop).position; ++k) {
        const LoopVar& loop = tree_.var(target.loops[static_cast<size_t>(k)]);
        if (loop.annotation == Annotation::Parallel) return true;
      }
      stage = &target;
    }
    return false;
  }

  // ---- values of variables ----

  Expr affine_expr(const arith::Affine& form) const {
    Expr sum;
    for (const arith::Term& term : form.terms) {
      const Expr& value = values_[term.var];
      CHECK(value.defined(), "variable {} has no value here", tree_.vars[term.var].name.text());
      const Expr product = term.coefficient == 1 ? value : value * term.coefficient;
      sum = sum.defined() ? sum + product : product;
    }
    if (!sum.defined()) return ir::int_imm(form.constant);
    return form.constant == 0 ? sum : sum + form.constant;
  }

  // The value of a variable from those of its loops; null while some have none (a reduction that
  // is being initialised).
  Expr local_value(VarIndex index) const {
    const LoopVar& var = live_.var(index);
    if (values_[static_cast<size_t>(index)].defined()) return values_[static_cast<size_t>(index)];
    if (var.is_loop() && var.extent == 1) return ir::int_imm(0);  // also before its place
    if (!var.is_split()) return {};
    Expr sum;
    for (int k = 0; k < var.parts; ++k) {
      const auto part = static_cast<VarIndex>(var.first_part + k);
      const Expr value = local_value(part);
      if (!value.defined()) return {};
      const Expr product = live_.var(part).stride == 1 ? value : value * live_.var(part).stride;
      sum = sum.defined() ? sum + product : product;
    }
    return var.shift == 0 ? sum : sum + var.shift;
  }

  std::vector<Expr> axis_values(StageIndex index) const {
    const Stage& stage = live_.stage(index);
    std::vector<Expr> values;
    for (size_t a = 0; a < stage.axes.size(); ++a) {
      Expr value = local_value(stage.axes[a]);
      const bool spatial = live_.var(stage.axes[a]).kind == IterKind::Spatial;
      if (value.defined() && spatial && a < stage.origin.size()) {
        value = simplified(affine_expr(stage.origin[a]) + value);
      }
      values.push_back(value.defined() ? simplified(value) : value);
    }
    return values;
  }

  Expr simplified(const Expr& expr) const { return arith::simplify(expr, bounds_); }

  // Logical indices, relative to the origin of what the buffer holds -> digits of its layout.
  std::vector<Expr> digits_of(BufferIndex buffer, const std::vector<Expr>& local) const {
    std::vector<Expr> out;
    for (const layout::Digit& digit : layouts_[static_cast<size_t>(buffer)].digits) {
      Expr value = local[digit.dim];
      if (digit.divisor > 1) value = value / digit.divisor;
      const bool outermost = digit.divisor * digit.extent >= tree_.buffer(buffer).extent[digit.dim];
      if (!outermost) value = value % digit.extent;
      out.push_back(simplified(value));
    }
    return out;
  }

  std::vector<Expr> locate(BufferIndex buffer, const std::vector<Expr>& absolute) const {
    const Stage& writer = live_.stage(live_.buffer(buffer).stage);
    if (writer.place != Place::At) return digits_of(buffer, absolute);
    std::vector<Expr> local;
    local.reserve(absolute.size());
    for (size_t d = 0; d < absolute.size(); ++d) {
      local.push_back(simplified(absolute[d] - affine_expr(writer.origin[d])));
    }
    return digits_of(buffer, local);
  }

  // ---- stages ----

  static bool reduces(const LoopTree& tree, const Stage& stage) {
    return stage.kind != StageKind::Copy && tree.dag->op(stage.op).has_reduction();
  }

  size_t first_reduce_loop(const Stage& stage) const {
    for (size_t k = 0; k < stage.loops.size(); ++k) {
      if (tree_.var(stage.loops[k]).kind == IterKind::Reduce) return k;
    }
    return stage.loops.size();
  }

  Stmt emit_stage(StageIndex index) { return emit_loops(index, 0, Phase::Main); }

  // The loops of a stage from `position` inwards.
  Stmt emit_loops(StageIndex index, size_t position, Phase phase) {
    const Stage& stage = tree_.stage(index);
    const bool reduction = reduces(tree_, stage);
    if (phase == Phase::Main && reduction && position == first_reduce_loop(stage)) {
      return emit_reduction(index, position);
    }
    return emit_loops_inside(index, position, phase);
  }

  Stmt emit_loops_inside(StageIndex index, size_t position, Phase phase) {
    const Stage& stage = tree_.stage(index);
    if (position == stage.loops.size()) return emit_body(index, phase);
    const VarIndex loop = stage.loops[position];
    const LoopVar& var = live_.var(loop);
    const bool skipped = phase != Phase::Main && var.kind == IterKind::Reduce;
    if (skipped) return emit_loops_inside(index, position + 1, phase);

    const int64_t extent = var.extent;
    const Annotation annotation = var.annotation;
    Expr value = ir::int_imm(0);
    if (extent > 1) {
      value = ir::var(var.name.text());
      bounds_[value.as<ir::Var>()->id] = {0, extent - 1};
      if (bindings_ != nullptr) bindings_->push_back({loop, value.as<ir::Var>()->id});
    }
    Stmt body = bind(loop, value, [&] {
      std::vector<Stmt> stmts;
      std::vector<StageIndex> attached;
      if (phase == Phase::Main) {
        for (const schedule::PrefetchRequest& request : tree_.prefetches) {
          if (request.loop == loop) stmts.push_back(emit_prefetch(request));
        }
        for (const StageIndex other : tree_.order) {
          const Stage& stage = tree_.stage(other);
          if (stage.place != Place::At || stage.at_loop != loop) continue;
          stmts.push_back(within_elements(index, other, emit_stage(other)));
          // What is read of it further in is where it was written, whatever branches follow.
          live_.stage(other).frozen = true;
          attached.push_back(other);
        }
      }
      // Once inside the outermost reduce loop, emit_loops must not start the reduction again.
      const bool inside = phase != Phase::Main || position >= first_reduce_loop(tree_.stage(index));
      stmts.push_back(inside ? emit_loops_inside(index, position + 1, phase)
                             : emit_loops(index, position + 1, phase));
      Stmt block = ir::make_block(std::move(stmts));
      for (const StageIndex other : attached) {
        live_.stage(other).frozen = false;
        const Stage& stage = tree_.stage(other);
        for (int k = 0; k < stage.buffers; ++k) {
          block = ir::make_allocate(static_cast<ir::BufferId>(stage.first_buffer + k), block);
        }
      }
      return block;
    });
    if (extent == 1) return body;
    const int64_t trips = trips_of(index, loop, extent);
    if (trips != extent) body = ir::make_if(value < extent, std::move(body));
    ir::ForKind kind = kind_of(annotation);
    if (tree_.find_tensorized(loop) != nullptr) {
      kind = phase == Phase::Main ? ir::ForKind::Tensorised : ir::ForKind::Vectorised;
    }
    return ir::make_for(value, ir::int_imm(trips), kind, std::move(body));
  }

  // A masked tail runs whole vectors.
  int64_t trips_of(StageIndex index, VarIndex loop, int64_t extent) const {
    const LoopVar& var = tree_.var(loop);
    const bool masked = var.annotation == Annotation::Vectorise &&
                        var.origin == schedule::VarOrigin::Part &&
                        schedule::tail_of(tree_.var(var.parent)) == schedule::Tail::Mask;
    if (!masked) return extent;
    const int bytes = ir::bytes_of(tree_.buffer(tree_.stage(index).first_buffer).element);
    const auto vector = static_cast<uint64_t>(std::max(1, vector_bytes_ / bytes));
    const uint64_t lanes = std::min(vector, std::bit_ceil(static_cast<uint64_t>(extent)));
    const auto step = static_cast<int64_t>(lanes);
    return (extent + step - 1) / step * step;
  }

  // One request a cache line of what each access will touch.
  Stmt emit_prefetch(const schedule::PrefetchRequest& request) {
    std::vector<Stmt> stmts;
    for (const schedule::Access& access : live_.reads_of(live_.stage(request.stage))) {
      if (access.buffer != request.buffer) continue;
      std::array<schedule::RegionDim, schedule::kMaxRank> dims;
      schedule::region_of(live_, access, request.stage, request.loop, dims.data());
      const auto known = [](const schedule::RegionDim& dim) { return !dim.whole; };
      if (!std::all_of(dims.begin(), dims.begin() + access.rank, known)) continue;
      stmts.push_back(emit_prefetch(request, std::span(dims.data(), access.rank)));
    }
    return ir::make_block(std::move(stmts));
  }

  Stmt emit_prefetch(const schedule::PrefetchRequest& request,
                     std::span<const schedule::RegionDim> dims) {
    constexpr int64_t kLineBytes = 64;
    const int64_t line = kLineBytes / ir::bytes_of(tree_.buffer(request.buffer).element);
    std::vector<Expr> indices;
    std::vector<std::pair<Expr, int64_t>> loops;
    for (size_t d = 0; d < dims.size(); ++d) {
      arith::Affine base = dims[d].base;
      base.constant += base.coefficient_of(static_cast<uint32_t>(request.loop)) * request.distance;
      Expr index = affine_expr(base);
      const int64_t step = d + 1 == dims.size() ? std::max(line, dims[d].stride) : dims[d].stride;
      if (const int64_t count = (dims[d].extent + step - 1) / step; count > 1) {
        const Expr at = ir::var("ahead");
        bounds_[at.as<ir::Var>()->id] = {0, count - 1};
        loops.emplace_back(at, count);
        index = index + at * step;
      }
      indices.push_back(simplified(index));
    }
    Stmt stmt = ir::make_prefetch(static_cast<ir::BufferId>(request.buffer),
                                  locate(request.buffer, indices));
    for (size_t k = loops.size(); k-- > 0;) {
      stmt = ir::make_for(loops[k].first, ir::int_imm(loops[k].second), ir::ForKind::Serial, stmt);
    }
    return stmt;
  }

  static ir::ForKind kind_of(Annotation annotation) {
    switch (annotation) {
      case Annotation::None:
      case Annotation::Stream:  // of the stage's stores
        return ir::ForKind::Serial;
      case Annotation::Parallel:
        return ir::ForKind::Parallel;
      case Annotation::Vectorise:
        return ir::ForKind::Vectorised;
      case Annotation::Unroll:
        return ir::ForKind::Unrolled;
    }
    return ir::ForKind::Serial;
  }

  // Before the outermost reduce loop: accumulators to the identity. After it, where accumulators
  // have another type than the buffer: cast and store.
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
    accumulator_ = apart ? declare_accumulators(stage, position)
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

  // Accumulators of their own: one dimension a spatial loop inside the outermost reduce loop.
  ir::BufferId declare_accumulators(const Stage& stage, size_t position) {
    const auto first = static_cast<ir::BufferId>(function_.buffers.size());
    const te::Reduction& reduction = *tree_.dag->op(stage.op).reduction;
    for (size_t k = 0; k < stage.buffers; ++k) {
      ir::Buffer buffer{.name = stage.name.text() + ".acc",
                        .element = {reduction.identity[k].type().scalar, 1},
                        .shape = {}};
      for (size_t p = position; p < stage.loops.size(); ++p) {
        const LoopVar& var = tree_.var(stage.loops[p]);
        if (var.kind == IterKind::Spatial) buffer.shape.push_back(var.extent);
      }
      if (buffer.shape.empty()) buffer.shape.push_back(1);
      const bool parallel =
          parallel_around(stage) ||
          std::any_of(stage.loops.begin(), stage.loops.begin() + position, [&](VarIndex loop) {
            return tree_.var(loop).annotation == Annotation::Parallel;
          });
      const bool small = buffer.elements() * ir::bytes_of(buffer.element.scalar) <= kStackBytes;
      buffer.scope = small ? ir::Scope::Stack : parallel ? ir::Scope::Thread : ir::Scope::Workspace;
      function_.buffers.push_back(std::move(buffer));
    }
    return first;
  }

  Stmt emit_body(StageIndex index, Phase phase) {
    const Stage& stage = tree_.stage(index);
    BodyContext context{
        .tree = live_,
        .stage = index,
        .axes = axis_values(index),
        .locate = [this](BufferIndex buffer,
                         const std::vector<Expr>& indices) { return locate(buffer, indices); },
        .accumulator = accumulator_,
        .accumulator_indices = {},
        .own_indices = {}};
    std::vector<Expr> own;
    for (const VarIndex dim : stage.dims) own.push_back(simplified(local_value(dim)));
    context.own_indices = digits_of(stage.first_buffer, own);
    context.read_guards = element_guards(index, IterKind::Spatial);
    context.fold_guards = element_guards(index, IterKind::Reduce);
    if (!reduces(tree_, stage)) return value_statement(context);
    context.accumulator_indices = context.own_indices;
    if (accumulator_ != static_cast<ir::BufferId>(stage.first_buffer)) {
      context.accumulator_indices = scratch_indices(stage);
    }
    if (phase == Phase::Init) return init_statement(context);
    if (phase == Phase::Finish) return finish_statement(context);
    return update_statement(context);
  }

  // Padded tiles: what is read there of other buffers, and what is folded, ends where the elements
  // do. Conditions of one kind that hold for elements and are not known to hold.
  std::vector<Expr> element_guards(StageIndex index, IterKind kind) const {
    std::vector<Expr> guards;
    for (const LoopVar& var : live_.vars) {
      if (var.stage != index || var.kind != kind || (var.valid == 0 && !var.unordered)) continue;
      const auto self = static_cast<VarIndex>(&var - live_.vars.data());
      const auto innermost = static_cast<VarIndex>(var.first_part + var.parts - 1);
      const Expr value = local_value(var.unordered ? self : innermost);
      if (!value.defined()) continue;  // further in, or a reduction that is being initialised
      const Expr guard = simplified(value < (var.unordered ? var.extent : var.valid));
      const int64_t* known = ir::as_int(guard);
      if (known == nullptr || *known == 0) guards.push_back(guard);
    }
    return guards;
  }

  // What is attached inside a padded tile, and lies elsewhere for each of its elements, is computed
  // for those only.
  Stmt within_elements(StageIndex index, StageIndex attached, Stmt stmt) const {
    const auto depends_on = [&](const Expr& guard, IterKind kind) {
      for (const arith::Affine& origin : live_.stage(attached).origin) {
        for (const arith::Term& term : origin.terms) {
          // A member of a fusion is named by a Let, which does not show its loops; what is folded
          // is guarded as a whole, so it may be absent.
          const bool is_member = live_.var(static_cast<VarIndex>(term.var)).fused_into != kNone;
          if (kind == IterKind::Reduce && is_member) return true;
          if (shares_variable(guard, values_[term.var])) return true;
        }
      }
      return false;
    };
    for (const IterKind kind : {IterKind::Spatial, IterKind::Reduce}) {
      for (const Expr& guard : element_guards(index, kind)) {
        if (depends_on(guard, kind)) stmt = ir::make_if(guard, stmt);
      }
    }
    return stmt;
  }

  std::vector<Expr> scratch_indices(const Stage& stage) const {
    std::vector<Expr> indices;
    for (size_t p = accumulator_loops_; p < stage.loops.size(); ++p) {
      if (tree_.var(stage.loops[p]).kind != IterKind::Spatial) continue;
      indices.push_back(values_[static_cast<size_t>(stage.loops[p])]);
    }
    if (indices.empty()) indices.push_back(ir::int_imm(0));
    return indices;
  }

  // ---- tails ----

  // Gives a variable its value for the statements that `inside` makes, and with it every variable
  // that is thereby known: members of a fusion by division, a split variable once its parts are.
  // Where a split leaves a remainder, branches on whether the outer part is at its last value.
  Stmt bind(VarIndex index, const Expr& value, const std::function<Stmt()>& inside) {
    values_[static_cast<size_t>(index)] = value;
    const LoopVar var = live_.var(index);
    Stmt result;
    if (var.origin == schedule::VarOrigin::Fused) {
      result = bind_members(var.first_member, value, inside);
    } else if (var.origin == schedule::VarOrigin::Part) {
      result = resolve_part(index, inside);
    } else {
      result = inside();
    }
    values_[static_cast<size_t>(index)] = Expr();
    return result;
  }

  // a = f / divisor mod extent, named by a Let, for one member after the other.
  Stmt bind_members(VarIndex member, const Expr& fused, const std::function<Stmt()>& inside) {
    if (member == kNone) return inside();
    const LoopVar var = live_.var(member);
    const auto next = [&] { return bind_members(var.next_member, fused, inside); };
    if (var.extent == 1) return bind(member, ir::int_imm(0), next);
    const bool outermost = live_.var(var.fused_into).first_member == member;
    Expr value = var.divisor == 1 ? fused : fused / var.divisor;
    if (!outermost) value = value % var.extent;
    const Expr name = ir::var(var.name.text());
    bounds_[name.as<ir::Var>()->id] = {0, var.extent - 1};
    if (bindings_ != nullptr) bindings_->push_back({member, name.as<ir::Var>()->id});
    return ir::make_let(name, simplified(value), bind(member, name, next));
  }

  Stmt resolve_part(VarIndex index, const std::function<Stmt()>& inside) {
    const LoopVar part = live_.var(index);
    const VarIndex parent = part.parent;
    const auto go_on = [&]() -> Stmt {  // is the split variable itself known by now?
      const LoopVar& whole = live_.var(parent);
      if (whole.origin == schedule::VarOrigin::Axis && whole.fused_into == kNone) return inside();
      if (values_[static_cast<size_t>(parent)].defined()) return inside();
      const Expr value = local_value(parent);
      if (!value.defined()) return inside();
      return bind(parent, simplified(value), inside);
    };
    const LoopVar whole = live_.var(parent);
    const bool last = part.part + 1 == whole.parts;
    if (last || whole.unordered || whole.resolved != part.part) return go_on();

    const int64_t rest = whole.resolved > 0 ? whole.rest : whole.extent;
    const int64_t full = rest / part.stride;  // values of this part with all inner values behind it
    const int64_t left = rest % part.stride;
    const auto with_rest = [&](const Rest& inner) {
      LoopVar& split = live_.var(parent);
      split.rest = inner.count;
      split.valid = inner.valid;
      split.shift = whole.shift + inner.shift;
      split.resolved = static_cast<uint8_t>(part.part + 1);
      const int64_t before = recomputed_;
      if (inner.count != part.stride || left != 0) recompute();
      Stmt stmt = go_on();
      LoopVar& restored = live_.var(parent);
      restored.rest = whole.rest;
      restored.valid = whole.valid;
      restored.shift = whole.shift;
      restored.resolved = whole.resolved;
      if (recomputed_ != before) recompute();  // numbers made further in are not those of here
      return stmt;
    };
    if (left == 0) return with_rest({.count = part.stride});
    const Rest final_tile = last_tile(whole, part, full, left);
    if (full == 0) return with_rest(final_tile);
    const Expr value = simplified(local_value(index));
    Stmt full_tiles = with_rest({.count = part.stride});
    Stmt tail = with_rest(final_tile);
    return ir::make_if(value < full, std::move(full_tiles), std::move(tail));
  }

  // What a branch leaves to the parts further in.
  struct Rest {
    int64_t count = 0;
    int64_t valid = 0;  // LoopVar::valid
    int64_t shift = 0;  // LoopVar::shift
  };

  // The last value of an outer part, `full` of which come before it and which has `left` values
  // behind it. Padding waits for the innermost tile, so that regions stay tight.
  Rest last_tile(const LoopVar& whole, const LoopVar& part, int64_t full, int64_t left) const {
    const int64_t tile =
        live_.var(static_cast<VarIndex>(whole.first_part + whole.parts - 2)).stride;
    if (left % tile == 0) return {.count = left};
    const int64_t covered = (left / tile + 1) * tile;
    const schedule::Tail tail = schedule::tail_of(whole);
    if (tail == schedule::Tail::Overlap && full > 0) {
      return {.count = covered, .shift = left - covered};
    }
    if (tail == schedule::Tail::Pad && part.part + 2 == whole.parts) {
      return {.count = covered, .valid = left};
    }
    return {.count = left};
  }

  void recompute() {
    ++recomputed_;
    const schedule::Illegal illegal = schedule::compute_numbers(trace_, &live_);
    CHECK(!illegal, "a legal schedule became illegal in its tail: {}",
          static_cast<int>(illegal.code));
  }

  const Workload& workload_;
  int vector_bytes_;
  const LoopTree& tree_;  // the numbers that buffers are sized by
  LoopTree live_;         // the numbers of the branch that is being written
  const schedule::Trace& trace_;
  std::vector<LoopBinding>* bindings_;
  ir::Function function_;
  std::vector<layout::Layout> layouts_;
  std::vector<Expr> values_;  // per variable; null where it has none
  arith::Bounds bounds_;
  int64_t recomputed_ = 0;  // how often the numbers were made anew
  ir::BufferId accumulator_ = 0;
  size_t accumulator_loops_ = SIZE_MAX;
};

}  // namespace

ir::Function build_nest(const Workload& workload, const Target& target, const LoopTree& tree,
                        const schedule::Trace& trace, std::vector<LoopBinding>* bindings) {
  return NestBuilder(workload, target, tree, trace, bindings).run();
}

}  // namespace tilewright::lower
