#include "heuristic/constant_axes.h"

#include <vector>

#include "base/rounding.h"
#include "heuristic/thread_loops.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

constexpr int64_t kUnrolledConstants = 4096;  // limit of instructions that fold after unrolling
constexpr int64_t kWholeTransform = 8192;     // limit if no loop is left

// The number of copies of the body that the annotations of a stage's loops create so far.
int64_t copies_of(const LoopTree& tree, StageIndex index, const Target& target) {
  const Stage& stage = tree.stage(index);
  const int lanes = target.lanes(ir::bytes_of(tree.buffer(stage.first_buffer).element));
  int64_t copies = 1;
  for (const VarIndex loop : stage.loops) {
    const LoopVar& var = tree.var(loop);
    if (var.annotation == Annotation::Unroll) copies *= var.extent;
    if (var.annotation == Annotation::Vectorize) copies *= ceil_div(var.extent, lanes);
  }
  return copies;
}

}  // namespace

bool is_hinted(const te::Op& op, size_t axis) {
  return axis < op.axes.size() ? op.axes[axis].hints.simplify_const_index
                               : op.reduce_axes[axis - op.axes.size()].hints.simplify_const_index;
}

HintedLoops hinted_loops(const LoopTree& tree, const Stage& stage) {
  const te::Op& op = tree.dag->op(stage.op);
  HintedLoops loops;
  for (size_t axis = 0; axis < stage.axes.size(); ++axis) {
    if (!is_hinted(op, axis)) continue;
    const LoopVar& var = tree.var(stage.axes[axis]);
    (axis < op.axes.size() ? loops.spatial : loops.folded).push_back(var.name);
    loops.copies *= var.extent;
  }
  return loops;
}

std::vector<Step> written_out(const LoopTree& tree, const Stage& stage,
                              const std::vector<Name>& outer, Name lane) {
  const HintedLoops hinted = hinted_loops(tree, stage);
  LoopList all;
  for (const std::vector<Name>* part : {&outer, &hinted.spatial, &hinted.folded}) {
    for (const Name loop : *part) all.push_back(loop);
  }
  all.push_back(lane);
  std::vector<Step> steps = {Reorder{stage.name, all},
                             Annotate{stage.name, lane, Annotation::Vectorize}};
  for (const std::vector<Name>* part : {&hinted.spatial, &hinted.folded}) {
    for (const Name loop : *part) {
      steps.emplace_back(Annotate{stage.name, loop, Annotation::Unroll});
    }
  }
  return steps;
}

bool tile_transform(Tiling& tiling, StageIndex index) {
  const LoopTree& tree = tiling.tree();
  const Stage& stage = tree.stage(index);
  const te::Op& op = tree.dag->op(stage.op);
  const HintedLoops hinted = hinted_loops(tree, stage);
  if (!tiling.style.vectors || stage.kind != StageKind::Compute || hinted.folded.empty() ||
      hinted.folded.size() != op.reduce_axes.size() ||
      hinted.copies * stage.instructions > kWholeTransform) {
    return false;
  }
  const AxisRoles roles = axis_roles(tree, index, tiling.target, false);
  if (!roles.has_vector() || roles.vector_reduces ||
      is_hinted(op, static_cast<size_t>(roles.vector))) {
    return false;
  }
  const LoopVar& vector = tree.var(stage.axes[static_cast<size_t>(roles.vector)]);
  const int64_t lanes = tiling.target.lanes(roles.element_bytes);
  const bool split = vector.extent > lanes;
  const bool large = is_worth_threads(tree, index, tiling.target);
  std::vector<Step> steps;
  if (split) steps.emplace_back(Split{stage.name, vector.name, {lanes}, Tail::Mask});
  std::vector<Name> outer;
  for (size_t axis = 0; axis < op.axes.size(); ++axis) {
    const Name loop = tree.var(stage.axes[axis]).name;
    if (!is_hinted(op, axis) && loop != vector.name) outer.push_back(loop);
  }
  if (split) outer.push_back(vector.name.child(0));
  const Name lane = split ? vector.name.child(1) : vector.name;
  const std::vector<Step> whole = written_out(tree, stage, outer, lane);
  steps.insert(steps.end(), whole.begin(), whole.end());
  if (!tiling.builder.add(steps)) return false;
  make_parallel(tiling, index, outer, large);
  return true;
}

void unroll_constants(Tiling& tiling, StageIndex index) {
  const Stage stage = tiling.tree().stage(index);
  const HintedLoops hinted = hinted_loops(tiling.tree(), stage);
  for (const std::vector<Name>* loops : {&hinted.folded, &hinted.spatial}) {
    int64_t copies = copies_of(tiling.tree(), index, tiling.target) * stage.instructions;
    for (const Name loop : *loops) {
      copies *= tiling.trips(index, loop);
    }
    if (copies > kUnrolledConstants) return;
    for (const Name loop : *loops)
      tiling.builder.add({Annotate{stage.name, loop, Annotation::Unroll}});
  }
}

}  // namespace tilewright::heuristic
