#include "feature/nest_facts.h"

#include <algorithm>

#include "base/rounding.h"
#include "heuristic/axis_roles.h"
#include "schedule/region.h"

namespace tilewright::feature {
namespace {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

// The stage with most of the arithmetic. Inlined work counts for the reader only if it has none
// itself.
StageIndex find_hottest(const LoopTree& tree, double* share) {
  StageIndex hottest = kNone;
  double most = -1;
  double total = 0;
  for (const StageIndex index : tree.order) {
    const Stage& stage = tree.stage(index);
    if (!stage.has_loops()) continue;
    const bool computes = stage.kind == StageKind::Compute || stage.kind == StageKind::Partial;
    const double flop = computes ? tree.dag->flop(stage.op) : 0;
    total += flop;
    const double weight = flop + 1e-9 * heuristic::iterations_of(tree, stage);
    if (weight <= most) continue;
    most = weight;
    hottest = index;
  }
  *share = total > 0 && hottest != kNone
               ? std::min(1.0, tree.dag->flop(tree.stage(hottest).op) / total)
               : 1;
  return hottest;
}

// The axis of the operator that a loop is a part of; none for fusions.
int axis_of(const LoopTree& tree, const Stage& stage, VarIndex loop) {
  VarIndex var = loop;
  while (tree.var(var).origin == VarOrigin::Part) var = tree.var(var).parent;
  const auto found = std::ranges::find(stage.axes, var);
  return found == stage.axes.end() ? heuristic::kNoAxis
                                   : static_cast<int>(found - stage.axes.begin());
}

class FactFinder {
 public:
  FactFinder(const LoopTree& tree, const Target& target) : tree_(tree), target_(target) {}

  NestFacts run() {
    const StageIndex index = find_hottest(tree_, &facts_.hottest_share);
    if (index == kNone) return facts_;
    const Stage& stage = tree_.stage(index);
    facts_.hottest = stage.name;
    find_vector(stage);
    find_sums(stage);
    find_threads(index);
    find_ragged(stage);
    return facts_;
  }

 private:
  int64_t lanes(const Stage& stage) const {
    const int bytes = ir::bytes_of(tree_.buffer(stage.first_buffer).element);
    return std::max(1, target_.lanes(std::max(1, bytes)));
  }

  void find_vector(const Stage& stage) {
    for (size_t k = 0; k < stage.loops.size(); ++k) {
      const VarIndex loop = stage.loops[k];
      const LoopVar& var = tree_.var(loop);
      const bool tensorized = tree_.intrinsic_axis(stage, k) == IntrinsicAxis::Lane;
      if (var.annotation != Annotation::Vectorize && !tensorized) continue;
      facts_.vectorized = true;
      facts_.vector_length = var.extent;
      const int64_t vectors = ceil_div(var.extent, lanes(stage));
      facts_.lanes_used =
          static_cast<double>(var.extent) / static_cast<double>(vectors * lanes(stage));
      if (!tensorized) find_gaps(stage, loop);
    }
  }

  void find_gaps(const Stage& stage, VarIndex loop) {
    const int axis = axis_of(tree_, stage, loop);
    if (axis == heuristic::kNoAxis) return;
    for (const Access& access : tree_.reads_of(stage)) {
      const heuristic::AccessStride walk =
          heuristic::access_stride(tree_, access, static_cast<size_t>(axis));
      const bool packed = tree_.buffer(access.buffer).packed_for != kNone;
      if (!walk.depends || walk.is_contiguous() || walk.run > 1 || packed) continue;
      facts_.with_gaps = tree_.stage(tree_.buffer(access.buffer).stage).name;
    }
  }

  // Accumulators are independent along the spatial loops inside the innermost reduce loop.
  void find_sums(const Stage& stage) {
    facts_.sums = 1;
    for (size_t k = stage.loops.size(); k-- > 0;) {
      const LoopVar& var = tree_.var(stage.loops[k]);
      const IntrinsicAxis axis = tree_.intrinsic_axis(stage, k);
      if (axis == IntrinsicAxis::Factor) {  // summed by the intrinsic
        facts_.reduces = true;
        continue;
      }
      const bool is_vector = var.annotation == Annotation::Vectorize || axis == IntrinsicAxis::Lane;
      if (var.kind == IterKind::Reduce && !is_vector) {
        facts_.reduces = true;
        return;
      }
      facts_.reduces |= var.kind == IterKind::Reduce;
      const bool written_out =
          var.annotation == Annotation::Unroll || axis == IntrinsicAxis::Row || is_vector;
      if (!written_out && var.extent > 1) return;
      facts_.sums *= is_vector ? ceil_div(var.extent, lanes(stage)) : var.extent;
    }
  }

  // Parallel loops of a CPU do not nest; those of a device do.
  void add_tasks(int64_t extent) {
    if (__builtin_mul_overflow(facts_.tasks, extent, &facts_.tasks)) facts_.tasks = INT64_MAX;
  }

  void find_threads(StageIndex index) {
    int position = static_cast<int>(tree_.stage(index).loops.size()) - 1;
    for (StageIndex at = index;;) {
      const Stage& stage = tree_.stage(at);
      for (int k = 0; k <= position; ++k) {
        const LoopVar& var = tree_.var(stage.loops[static_cast<size_t>(k)]);
        if (var.is_parallel()) add_tasks(var.extent);
      }
      if (stage.place != Attachment::At) break;
      position = tree_.var(stage.at_loop).position;
      at = stage.at_stage;
    }
    const int64_t rounds = ceil_div(facts_.tasks, target_.threads());
    facts_.balance =
        static_cast<double>(facts_.tasks) / static_cast<double>(rounds * target_.threads());
  }

  // Includes the enclosing stages, which split its tiles.
  void find_ragged(const Stage& stage) {
    for (const LoopVar& var : tree_.vars) {
      if (!var.is_split() || var.remainder == 0 || var.stage == kNone) continue;
      const StageIndex own = tree_.find_stage(stage.name);
      bool around = var.stage == own;
      for (StageIndex at = own; tree_.stage(at).place == Attachment::At && !around;) {
        at = tree_.stage(at).at_stage;
        around = var.stage == at;
      }
      if (!around) continue;
      facts_.ragged_share = std::max(facts_.ragged_share, static_cast<double>(var.remainder) /
                                                              static_cast<double>(var.extent));
    }
  }

  const LoopTree& tree_;
  const Target& target_;
  NestFacts facts_;
};

}  // namespace

NestFacts nest_facts(const LoopTree& tree, const Target& target) {
  return FactFinder(tree, target).run();
}

}  // namespace tilewright::feature
