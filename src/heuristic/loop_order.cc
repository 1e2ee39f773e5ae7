#include "heuristic/loop_order.h"

#include <algorithm>

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

// A loop and its planned transformation.
struct PlannedLoop {
  Name name;
  bool reduces = false;
  bool is_vector = false;
  bool in_batch = false;
  bool split = false;  // false: one loop, which is inside if it has a tile
  int64_t tile = 0;
};

// Splits each loop of the stage whose axis has a smaller tile, in the existing order.
std::vector<PlannedLoop> plan_loops(const LoopTree& tree, StageIndex index, const AxisRoles& roles,
                                    const RegisterTile& tile) {
  const Stage& stage = tree.stage(index);
  const auto loop_of = [&](int axis) {
    return axis == kNoAxis || static_cast<size_t>(axis) >= stage.axes.size()
               ? kNone
               : innermost_part(tree, stage.axes[static_cast<size_t>(axis)]);
  };
  const VarIndex vector = loop_of(roles.vector);
  const VarIndex rows = tile.rows > 0 ? loop_of(roles.rows) : kNone;
  const VarIndex columns = tile.columns > 0 ? loop_of(roles.columns) : kNone;
  const VarIndex across = loop_of(roles.across);
  std::vector<PlannedLoop> loops;
  for (const VarIndex loop : stage.loops) {
    const LoopVar& var = tree.var(loop);
    PlannedLoop planned{.name = var.name, .reduces = var.kind == IterKind::Reduce};
    if (loop == vector) {
      planned.tile = tile.vector;
      planned.is_vector = true;
    } else if (loop == rows) {
      planned.tile = tile.rows;
    } else if (loop == columns) {
      planned.tile = tile.columns;
    } else if (loop == across) {
      planned.tile = kAcross;
    }
    planned.split = planned.tile != 0 && planned.tile < var.extent;
    planned.in_batch = planned.tile == 0 &&
                       std::ranges::any_of(roles.batch, [&](int a) { return loop_of(a) == loop; });
    loops.push_back(planned);
  }
  return loops;
}

}  // namespace

LoopOrder order_loops(const LoopTree& tree, StageIndex index, const AxisRoles& roles,
                      const RegisterTile& tile) {
  const StageName name = tree.stage(index).name;
  LoopOrder order;
  std::vector<Name> first, rest, reduce, inner, vector;
  const std::vector<PlannedLoop> loops = plan_loops(tree, index, roles, tile);
  const bool outside = std::ranges::any_of(loops, [&](const PlannedLoop& loop) {
    return roles.vector_outside && loop.is_vector && loop.split;
  });
  for (const PlannedLoop& loop : loops) {
    if (loop.split) order.steps.emplace_back(Split{name, loop.name, {loop.tile}, Tail::Peel});
    if (loop.tile != 0) {
      (loop.is_vector ? vector : inner).push_back(loop.split ? loop.name.child(1) : loop.name);
      if (!loop.split) continue;
    }
    const Name outer = loop.split ? loop.name.child(0) : loop.name;
    // With the vector loop outside, axes that every operand has go before it, the others after it.
    if (loop.reduces) {
      reduce.push_back(outer);
    } else if (outside && loop.in_batch) {
      first.push_back(outer);
    } else if (outside && loop.is_vector) {
      rest.insert(rest.begin(), outer);
    } else {
      rest.push_back(outer);
    }
  }
  order.outer = first;
  order.outer.insert(order.outer.end(), rest.begin(), rest.end());
  LoopList all;
  for (const std::vector<Name>* part : {&order.outer, &reduce, &inner, &vector}) {
    for (const Name loop : *part) all.push_back(loop);
  }
  if (all.size() > 1) order.steps.emplace_back(Reorder{name, all});
  return order;
}

}  // namespace tilewright::heuristic
