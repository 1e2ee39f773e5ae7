#include "lower/stage_body.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "ir/visit.h"

namespace tilewright::lower {
namespace {

using ir::Expr;
using ir::Stmt;
using schedule::BufferIndex;
using schedule::kNone;
using schedule::Stage;
using schedule::StageKind;

// The variables of an expression.
class VariableCollector : public ir::Visitor {
 public:
  void visit(const Expr& expr) override {
    if (const auto* var = expr.as<ir::Var>()) ids.insert(var->id);
    ir::Visitor::visit(expr);
  }
  std::set<ir::VarId> ids;
};

// In a padded tile, 0 for reads past the end.
Expr guarded(const BodyContext& context, Expr value, const std::vector<Expr>& indices) {
  for (const Expr& guard : context.read_guards) {
    const bool concerned = std::ranges::any_of(
        indices, [&](const Expr& index) { return shares_variable(guard, index); });
    if (concerned) value = ir::select(guard, value, ir::imm(0, value.type()));
  }
  return value;
}

// Replaces axes by values and reads of tensors by loads; inlines stages without a buffer.
class BodyRewriter : public ir::Rewriter {
 public:
  // `body`: the inlined stage whose expression is rewritten; kNone: the stage itself.
  BodyRewriter(const BodyContext& context, ir::Substitution axes, schedule::StageIndex body = kNone)
      : context_(context), axes_(std::move(axes)), body_(body) {}

  Expr rewrite(const Expr& expr) override {
    if (const auto* var = expr.as<ir::Var>()) {
      const auto found = axes_.find(var->id);
      return found == axes_.end() ? expr : found->second;
    }
    if (const auto* load = expr.as<ir::Load>()) {
      std::vector<Expr> indices;
      indices.reserve(load->indices.size());
      for (const Expr& index : load->indices) indices.push_back(rewrite(index));
      return read(load->buffer, indices);
    }
    return rewrite_children(expr);
  }
  using Rewriter::rewrite;

  // The element of a tensor as read by this stage: a load, or the inlined producer.
  Expr read(te::TensorId tensor, const std::vector<Expr>& indices) {
    const te::Dag& dag = *context_.tree.dag;
    const ir::Scalar element = dag.tensor(tensor).element;
    if (const BufferIndex buffer = buffer_for(tensor); buffer != kNone) {
      const ir::Scalar stored = context_.tree.buffer(buffer).element;
      const Expr value = ir::cast(element, ir::load(stored, static_cast<ir::BufferId>(buffer),
                                                    context_.locate(buffer, indices)));
      return guarded(context_, value, indices);
    }
    const te::Op& op = dag.op(dag.tensor(tensor).op);
    CHECK(!op.has_reduction() && op.body.size() == 1, "{} cannot be inlined", op.name.text());
    ir::Substitution axes;
    for (size_t a = 0; a < op.axes.size(); ++a) axes.emplace(op.axes[a].id(), indices[a]);
    const auto inlined = static_cast<schedule::StageIndex>(dag.tensor(tensor).op);
    return ir::cast(element, BodyRewriter(context_, std::move(axes), inlined).rewrite(op.body[0]));
  }

 private:
  // The buffer from which this body reads a tensor; kNone if the producer is inlined.
  BufferIndex buffer_for(te::TensorId tensor) const {
    const Stage& stage = context_.tree.stage(context_.stage);
    for (const schedule::Access& access : context_.tree.reads_of(stage)) {
      const bool same = context_.tree.buffer(access.buffer).tensor == tensor;
      if (same && access.via == body_) return access.buffer;
    }
    return kNone;
  }

  const BodyContext& context_;
  ir::Substitution axes_;
  schedule::StageIndex body_;
};

ir::Substitution axis_values(const BodyContext& context) {
  const te::Op& op = context.tree.dag->op(context.tree.stage(context.stage).op);
  ir::Substitution values;
  for (size_t a = 0; a < context.axes.size(); ++a) {
    if (!context.axes[a].defined()) continue;
    const te::Axis& axis = a < op.axes.size() ? op.axes[a] : op.reduce_axes[a - op.axes.size()];
    values.emplace(axis.id(), context.axes[a]);
  }
  return values;
}

ir::BufferId output_buffer(const BodyContext& context, size_t output) {
  return static_cast<ir::BufferId>(context.tree.stage(context.stage).first_buffer) +
         static_cast<ir::BufferId>(output);
}

// The value of output k, before folding.
Expr source_value(const BodyContext& context, size_t output) {
  const Stage& stage = context.tree.stage(context.stage);
  if (stage.kind == StageKind::Copy) {
    const te::TensorId tensor =
        context.tree.buffer(static_cast<BufferIndex>(output_buffer(context, output))).tensor;
    return BodyRewriter(context, {}).read(tensor, context.axes);
  }
  if (stage.kind == StageKind::Combine) {
    const size_t at = static_cast<size_t>(stage.first_access) + output;
    const BufferIndex partial = context.tree.accesses[at].buffer;
    return guarded(
        context,
        ir::load(context.tree.buffer(partial).element, static_cast<ir::BufferId>(partial),
                 context.locate(partial, context.axes)),
        context.axes);
  }
  const te::Op& op = context.tree.dag->op(stage.op);
  return BodyRewriter(context, axis_values(context)).rewrite(op.body[output]);
}

const te::Reduction& reduction_of(const BodyContext& context) {
  return *context.tree.dag->op(context.tree.stage(context.stage).op).reduction;
}

Expr accumulated(const BodyContext& context, size_t k) {
  const ir::Scalar scalar = reduction_of(context).identity[k].type().scalar;
  return ir::load(scalar, context.accumulator + static_cast<ir::BufferId>(k),
                  context.accumulator_indices);
}

// buffer = value(context, k) for each result k of the stage
Stmt store_results(const BodyContext& context, Expr (*value)(const BodyContext&, size_t)) {
  const Stage& stage = context.tree.stage(context.stage);
  std::vector<Stmt> stores;
  stores.reserve(stage.buffers);
  for (size_t k = 0; k < stage.buffers; ++k) {
    const ir::BufferId buffer = output_buffer(context, k);
    const ir::Scalar element = context.tree.buffer(static_cast<BufferIndex>(buffer)).element;
    stores.push_back(ir::make_store(buffer, context.own_indices,
                                    ir::cast(element, value(context, k)), {}, stage.streams));
  }
  return ir::make_block(std::move(stores));
}

}  // namespace

bool shares_variable(const Expr& guard, const Expr& index) {
  VariableCollector a, b;
  a.visit(guard);
  b.visit(index);
  return a.ids.empty() ||
         std::ranges::any_of(a.ids, [&](ir::VarId id) { return b.ids.contains(id); });
}

Stmt init_statement(const BodyContext& context) {
  const te::Reduction& reduction = reduction_of(context);
  std::vector<Stmt> stores;
  stores.reserve(reduction.identity.size());
  for (size_t k = 0; k < reduction.identity.size(); ++k) {
    stores.push_back(ir::make_store(context.accumulator + static_cast<ir::BufferId>(k),
                                    context.accumulator_indices, reduction.identity[k]));
  }
  return ir::make_block(std::move(stores));
}

Stmt update_statement(const BodyContext& context) {
  const te::Reduction& reduction = reduction_of(context);
  const size_t tuple = reduction.identity.size();
  ir::Substitution operands;
  for (size_t k = 0; k < tuple; ++k) {
    operands.emplace(reduction.lhs[k].as<ir::Var>()->id, accumulated(context, k));
    Expr value = source_value(context, k);
    for (const Expr& guard : context.fold_guards) {
      value = ir::select(guard, value, reduction.identity[k]);
    }
    operands.emplace(reduction.rhs[k].as<ir::Var>()->id, value);
  }
  // All new values are computed from the old tuple before any is stored.
  std::vector<Stmt> stores;
  std::vector<std::pair<Expr, Expr>> named;
  for (size_t k = 0; k < tuple; ++k) {
    Expr value = ir::substitute(reduction.combine[k], operands);
    if (tuple > 1) {
      const Expr name = ir::var("fold", value.type());
      named.emplace_back(name, value);
      value = name;
    }
    stores.push_back(ir::make_store(context.accumulator + static_cast<ir::BufferId>(k),
                                    context.accumulator_indices, value));
  }
  Stmt body = ir::make_block(std::move(stores));
  for (size_t k = named.size(); k-- > 0;) {
    body = ir::make_let(named[k].first, named[k].second, body);
  }
  return body;
}

Stmt value_statement(const BodyContext& context) { return store_results(context, source_value); }

Stmt finish_statement(const BodyContext& context) { return store_results(context, accumulated); }

}  // namespace tilewright::lower
