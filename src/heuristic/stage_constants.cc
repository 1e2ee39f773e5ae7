// The part of StageTiler about stages that multiply by entries of constant matrices: the axes that
// choose an entry have the hint simplify_const_index, and fold once they are written out.
//
//   V[a, b, p, c] += B[ra, a] B[rb, b] T[ra, rb, p, c]
//   for (p) in parallel:  for c.0:  unroll a, b, ra, rb:  vectorize c.1 < 16
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "heuristic/stage_tiles.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

constexpr int64_t kUnrolledConstants = 4096;  // instructions of what folds when it is written out
constexpr int64_t kWholeTransform = 8192;     // where nothing of it is left to loops

struct HintedLoops {
  std::vector<Name> spatial, folded;  // the folded ones reduce
  int64_t copies = 1;                 // of the body, with all of them written out
};

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

}  // namespace

// A stage at root that only such axes reduce: all of the transform of one place for a vector of it,
// where the code bears it. False: nothing was done.
bool StageTiler::tile_transform(StageIndex index) {
  const Stage& stage = tree().stage(index);
  const te::Op& op = tree().dag->op(stage.op);
  const HintedLoops hinted = hinted_loops(tree(), stage);
  if (!style_.vectors || stage.kind != StageKind::Compute || hinted.folded.empty() ||
      hinted.folded.size() != op.reduce_axes.size() ||
      hinted.copies * stage.instructions > kWholeTransform) {
    return false;
  }
  const AxisRoles roles = axis_roles(tree(), index, target_, false);
  if (!roles.has_vector() || roles.vector_reduces ||
      is_hinted(op, static_cast<size_t>(roles.vector))) {
    return false;
  }
  const LoopVar& vector = tree().var(stage.axes[static_cast<size_t>(roles.vector)]);
  const int64_t lanes = target_.lanes(roles.element_bytes);
  const bool split = vector.extent > lanes;
  const bool large = is_worth_threads(index);
  std::vector<Step> steps;
  if (split) steps.emplace_back(Split{stage.name, vector.name, {lanes}, Tail::Mask});
  std::vector<Name> outer;
  for (size_t axis = 0; axis < op.axes.size(); ++axis) {
    const Name loop = tree().var(stage.axes[axis]).name;
    if (!is_hinted(op, axis) && loop != vector.name) outer.push_back(loop);
  }
  if (split) outer.push_back(vector.name.child(0));
  const Name lane = split ? vector.name.child(1) : vector.name;
  LoopList all;
  for (const std::vector<Name>* part : {&std::as_const(outer), &hinted.spatial, &hinted.folded}) {
    for (const Name loop : *part) all.push_back(loop);
  }
  all.push_back(lane);
  steps.emplace_back(Reorder{stage.name, all});
  steps.emplace_back(Annotate{stage.name, lane, Annotation::Vectorize});
  for (const std::vector<Name>* part : {&hinted.spatial, &hinted.folded}) {
    for (const Name loop : *part) {
      steps.emplace_back(Annotate{stage.name, loop, Annotation::Unroll});
    }
  }
  if (!builder_.add(steps)) return false;
  make_parallel(index, outer, large);
  return true;
}

// How often the annotations that the loops of a stage have so far write its body out.
int64_t StageTiler::copies_of(StageIndex index) const {
  const Stage& stage = tree().stage(index);
  const int lanes = target_.lanes(ir::bytes_of(tree().buffer(stage.first_buffer).element));
  int64_t copies = 1;
  for (const VarIndex loop : stage.loops) {
    const LoopVar& var = tree().var(loop);
    if (var.annotation == Annotation::Unroll) copies *= var.extent;
    if (var.annotation == Annotation::Vectorize) copies *= ceil_div(var.extent, lanes);
  }
  return copies;
}

// Axes that the operator wants written out: as many as the code bears.
void StageTiler::unroll_constants(StageIndex index) {
  const Stage stage = tree().stage(index);
  const HintedLoops hinted = hinted_loops(tree(), stage);
  for (const std::vector<Name>* loops : {&hinted.folded, &hinted.spatial}) {
    int64_t copies = copies_of(index) * stage.instructions;
    for (const Name loop : *loops) {
      const VarIndex found = tree().find_loop(index, loop);
      copies *= found == kNone ? 1 : tree().var(found).extent;
    }
    if (copies > kUnrolledConstants) return;
    for (const Name loop : *loops) builder_.add({Annotate{stage.name, loop, Annotation::Unroll}});
  }
}

}  // namespace tilewright::heuristic
