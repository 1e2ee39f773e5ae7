#include "schedule/apply.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/explain.h"
#include "schedule/numbers.h"
#include "te/shape_of.h"

namespace tilewright::schedule {
namespace {

Status check_limits(const te::Dag& dag) {
  if (dag.ops().size() > kMaxStages) {
    return fail(ErrorKind::Unsupported, fmt::format("{} operators; a schedule takes up to {}",
                                                    dag.ops().size(), kMaxStages));
  }
  for (const te::Op& op : dag.ops()) {
    if (op.kind == te::OpKind::Scan || op.kind == te::OpKind::Extern) {
      return fail(ErrorKind::Unsupported,
                  fmt::format("operator {}: scans and externs have no schedule", op.name.text()));
    }
    if (op.axes.size() + op.reduce_axes.size() > kMaxAxes) {
      return fail(ErrorKind::Unsupported,
                  fmt::format("operator {} has {} axes; a schedule takes up to {}", op.name.text(),
                              op.axes.size() + op.reduce_axes.size(), kMaxAxes));
    }
    for (const std::vector<te::Axis>* axes : {&op.axes, &op.reduce_axes}) {
      for (const te::Axis& axis : *axes) {
        if (!axis.extent.is_constant()) {
          return fail(
              ErrorKind::Unsupported,
              fmt::format("axis {} of {} has the symbolic extent {}; schedules need numbers",
                          axis.name.text(), op.name.text(), axis.extent.symbol.text()));
        }
      }
    }
  }
  for (const te::Tensor& tensor : dag.tensors()) {
    if (tensor.shape.size() > kMaxRank) {
      return fail(ErrorKind::Unsupported,
                  fmt::format("tensor {} has {} dimensions; a schedule takes up to {}",
                              tensor.name.text(), tensor.shape.size(), kMaxRank));
    }
  }
  return {};
}

// Operands are row-major, except constants without a layout. An input or output may be a part of a
// larger array, by the conditions of set_part.
Status check_layouts(const Workload& workload) {
  for (const Operand& operand : workload.operands) {
    const te::Tensor& tensor = workload.dag->tensor(operand.tensor);
    if (operand.is_part()) {
      Workload checked = workload;
      TRY(set_part(checked, {.tensor = tensor.name.text(),
                             .extents = operand.within,
                             .alignment = operand.alignment}));
    }
    const bool is_open = operand.layout.free && operand.role == Role::Constant;
    if (is_open || operand.layout.is_row_major(te::shape_of(tensor))) continue;
    return fail(ErrorKind::Unsupported,
                fmt::format("operand {} has the layout {}; schedules take row-major operands, and "
                            "constants whose layout is free",
                            tensor.name.text(), operand.layout.to_string()));
  }
  return {};
}

void add_accesses(LoopTree& tree, StageIndex index, const te::OpAccess& analysis) {
  Stage& stage = tree.stage(index);
  stage.first_access = static_cast<uint16_t>(tree.accesses.size());
  stage.accesses = static_cast<uint16_t>(analysis.reads.size());
  stage.instructions =
      static_cast<int32_t>(std::min(1 + analysis.instructions, kMaxInstructions + 1));
  const auto first_quotient = static_cast<uint32_t>(tree.quotients.size());
  for (const te::Quotient& quotient : analysis.quotients) tree.quotients.push_back(quotient);
  for (const te::Access& read : analysis.reads) {
    tree.accesses.push_back({.stage = index,
                             .buffer = static_cast<BufferIndex>(read.tensor),
                             .rank = static_cast<uint8_t>(read.dims.size()),
                             .guarded = read.guarded,
                             .first_dim = static_cast<uint16_t>(tree.dims.size())});
    for (const te::AccessDim& dim : read.dims) {
      AccessDim& own = tree.dims.emplace_back(
          AccessDim{.affine = dim.affine, .quasi_affine = dim.quasi_affine, .index = dim.index});
      for (arith::Term& term : own.index.terms) {  // quotients are numbered across the whole tree
        if (term.var >= te::kFirstQuotient) term.var += first_quotient;
      }
    }
  }
}

Illegal apply_at(TreeEditor& editor, const Step& step) {
  return std::visit([&](const auto& s) { return apply_step(editor, s); }, step);
}

}  // namespace

Result<LoopTree> initial_tree(const Workload& workload, IntrinsicTable intrinsics) {
  const te::Dag& dag = *workload.dag;
  TRY(check_limits(dag));
  TRY(check_layouts(workload));
  LoopTree tree;
  tree.dag = &dag;
  tree.intrinsics = intrinsics;
  tree.reassociate = workload.permissions.reassociate;
  for (te::TensorId id = 0; id < dag.tensors().size(); ++id) {  // buffer k holds tensor k
    const te::Tensor& tensor = dag.tensor(id);
    tree.buffers.push_back({.stage = static_cast<StageIndex>(tensor.op),
                            .output = static_cast<uint8_t>(tensor.output),
                            .rank = static_cast<uint8_t>(tensor.shape.size()),
                            .element = tensor.element,
                            .tensor = id});
  }
  for (const Operand& operand : workload.operands) {
    Buffer& buffer = tree.buffers[operand.tensor];
    buffer.is_argument = true;
    buffer.is_constant = operand.role == Role::Constant;
    if (operand.within == te::shape_of(dag.tensor(operand.tensor))) continue;  // it is the whole
    for (const int64_t extent : operand.within) buffer.within.push_back(extent);
  }
  TreeEditor editor(tree);
  for (te::OpId id = 0; id < dag.ops().size(); ++id) {  // stage k computes operator k
    const te::Op& op = dag.op(id);
    const auto index = static_cast<StageIndex>(id);
    const bool input = op.kind == te::OpKind::Placeholder;
    tree.stages.push_back({.name = {.op = op.name},
                           .op = id,
                           .kind = input ? StageKind::Input : StageKind::Compute,
                           .first_buffer = static_cast<BufferIndex>(op.outputs.at(0)),
                           .buffers = static_cast<uint8_t>(op.outputs.size())});
    tree.order.push_back(index);
    if (input) continue;
    for (const te::Axis& axis : op.axes) editor.add_axis(index, axis.name, IterKind::Spatial);
    for (const te::Axis& axis : op.reduce_axes) editor.add_axis(index, axis.name, IterKind::Reduce);
    add_accesses(tree, index, dag.access(id));
  }
  return tree;
}

Illegal apply_structure(const LoopTree& initial, const Trace& trace, LoopTree* tree) {
  CHECK(trace.steps.size() <= kMaxSteps, "{} steps", trace.steps.size());
  *tree = initial;
  TreeEditor editor(*tree);
  for (size_t k = 0; k < trace.steps.size(); ++k) {
    editor.set_step(static_cast<int16_t>(k));
    if (const Illegal illegal = apply_at(editor, trace.steps[k])) return illegal;
  }
  return check_structure(*tree);
}

Illegal apply(const LoopTree& initial, const Trace& trace, LoopTree* tree) {
  if (const Illegal illegal = apply_structure(initial, trace, tree)) return illegal;
  if (const Illegal illegal = compute_numbers(trace, tree)) return illegal;
  return check_tensorized(*tree);
}

Illegal retile(const Trace& trace, LoopTree* tree) {
  for (const LoopVar& var : tree->vars) {  // in ascending order of steps, as apply visits them
    if (var.origin != VarOrigin::Part || var.part != 0) continue;
    const Step& step = trace.steps.at(static_cast<size_t>(var.step));
    const auto* split = std::get_if<Split>(&step);
    if (std::holds_alternative<FollowSplit>(step) ||
        std::holds_alternative<FollowFusedSplit>(step)) {
      continue;
    }
    CHECK(split != nullptr && split->factors.size() + 1 == tree->var(var.parent).parts,
          "step {} of the trace is another one than the tree was made of", var.step);
    const Illegal refusal{IllegalCode::BadFactor, var.step, split->stage, split->loop};
    if (const Illegal illegal = check_factors(split->factors, refusal)) return illegal;
  }
  if (const Illegal illegal = compute_numbers(trace, tree)) return illegal;
  return check_tensorized(*tree);
}

Result<LoopTree> apply_or_explain(const LoopTree& initial, const Trace& trace) {
  LoopTree tree;
  if (const Illegal illegal = apply(initial, trace, &tree)) {
    return fail(ErrorKind::Illegal, explain(initial, trace, illegal));
  }
  return tree;
}

}  // namespace tilewright::schedule
