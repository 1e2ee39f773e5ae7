#include "heuristic/stage_tiler.h"

#include <algorithm>

#include "base/rounding.h"
#include "heuristic/constant_axes.h"
#include "heuristic/loop_order.h"
#include "heuristic/operand_copies.h"
#include "heuristic/thread_loops.h"
#include "heuristic/tile_sizes.h"
#include "heuristic/window.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

// How many axes repeat in registers.
size_t repeated_axes(const AxisRoles& roles, const TileStyle& style) {
  if (roles.rows == kNoAxis) return 0;
  if (!roles.vector_reduces) return 1;
  if (!style.vectors || style.small) return 0;
  return roles.columns == kNoAxis ? 1 : 2;
}

// True if the operands of the lanes are larger than the others.
bool are_lanes_larger(const LoopTree& tree, const Stage& stage, const AxisRoles& roles) {
  double lanes = 0;
  double others = 0;
  for (const Access& access : tree.reads_of(stage)) {
    const bool depends = access_stride(tree, access, static_cast<size_t>(roles.vector)).depends;
    (depends ? lanes : others) += elements_of(tree, access);
  }
  return lanes >= others;
}

}  // namespace

void annotate_tile(Tiling& tiling, StageIndex index, const AxisRoles& roles) {
  constexpr int64_t kMaxRows = 28;
  if (!roles.has_vector()) return;
  const LoopTree& tree = tiling.tree();
  const Stage& stage = tree.stage(index);
  const StageName name = stage.name;
  const size_t count = stage.loops.size();
  const Name last = tree.var(stage.loops[count - 1]).name;
  const size_t repeated = std::min(count - 1, repeated_axes(roles, tiling.style));
  std::vector<Name> unrolled;
  int64_t copies = 1;
  for (size_t k = 1; k <= repeated; ++k) {
    const LoopVar& var = tree.var(stage.loops[count - 1 - k]);
    copies *= var.extent;
    if (var.kind != IterKind::Spatial || copies > kMaxRows) break;
    unrolled.push_back(var.name);
  }
  const Annotation lanes = tiling.style.vectors ? Annotation::Vectorize : Annotation::Unroll;
  tiling.builder.add({Annotate{name, last, lanes}});
  for (const Name loop : unrolled) {
    tiling.builder.add({Annotate{name, loop, Annotation::Unroll}});
  }
}

void unroll_taps(Tiling& tiling, StageIndex index) {
  const LoopTree& tree = tiling.tree();
  const bool light = is_light_window(tree, index, tiling.target);
  if (!tiling.style.vectors || !(light || reads_inlined_border(tree, index))) return;
  const Stage& stage = tree.stage(index);
  const StageName name = stage.name;
  std::vector<Name> taps;
  for (const int axis : window_of(tree, index).taps) {
    taps.push_back(tree.var(stage.axes[static_cast<size_t>(axis)]).name);
  }
  for (size_t k = taps.size(); k-- > 0;) {
    tiling.builder.add({Annotate{name, taps[k], Annotation::Unroll}});
    if (!light) return;
  }
}

AxisRoles StageTiler::roles_of(StageIndex index, bool may_pack) const {
  AxisRoles roles = axis_roles(tree(), index, tiling_.target, may_pack && tiling_.style.packs);
  const int phased = phased_axis(tree(), index, roles);
  if (roles.vector_reduces) {
    if (roles.rows != kNoAxis && roles.columns == kNoAxis) roles.columns = phased;
  } else if (roles.rows == kNoAxis && phased != kNoAxis) {
    roles.rows = phased;
    roles.vector_outside = are_lanes_larger(tree(), tree().stage(index), roles);
  }
  return roles;
}

RegisterTile StageTiler::tile_of(StageIndex index, const AxisRoles& roles) const {
  if (is_light_window(tree(), index, tiling_.target)) {
    return window_tile(tree(), index, roles, tiling_.target, tiling_.style);
  }
  return choose_tile(tree(), index, roles, tiling_.target, tiling_.style);
}

bool StageTiler::is_large(StageIndex index) const {
  return is_worth_threads(tree(), index, tiling_.target);
}

std::optional<std::vector<Name>> StageTiler::lay_out(StageIndex index, const AxisRoles& roles,
                                                     const RegisterTile& tile) {
  LoopOrder order = order_loops(tree(), index, roles, tile);
  if (!tiling_.builder.add(order.steps)) return std::nullopt;
  return std::move(order.outer);
}

void StageTiler::tile_inner(StageIndex index) {
  const AxisRoles roles = roles_of(index, false);
  if (!lay_out(index, roles, tile_of(index, roles))) return;
  annotate_tile(tiling_, index, roles);
  unroll_constants(tiling_, index);
}

void StageTiler::tile_root(StageIndex index) {
  if (tile_transform(tiling_, index) || tile_window(index)) return;
  const bool heavy = is_heavy(tree(), index);
  const bool large = is_large(index);
  const AxisRoles roles = roles_of(index, heavy);
  auto outer = lay_out(index, roles, tile_of(index, roles));
  if (!outer) return;
  make_parallel(tiling_, index, *outer, large);
  annotate_tile(tiling_, index, roles);
  unroll_constants(tiling_, index);
  unroll_taps(tiling_, index);
  if (heavy) pack_operands(tiling_, index, roles, index, *outer);
}

bool StageTiler::tile_window(StageIndex index) {
  if (!tiling_.style.vectors || !is_light_window(tree(), index, tiling_.target)) return false;
  const StageName name = tiling_.name_of(index);
  if (!tiling_.builder.add({CacheWrite{name}})) return false;
  tile_pair(index, tree().find_stage({.op = name.op, .role = StageRole::Write}));
  return true;
}

std::optional<Name> StageTiler::tile_led(StageIndex index, int lead, bool work_is_large) {
  const AxisRoles roles = roles_of(index, false);
  const Stage& stage = tree().stage(index);
  const StageName name = stage.name;
  LoopList outer;
  double row = 1;
  for (size_t axis = 0; axis < stage.axes.size(); ++axis) {
    const LoopVar& var = tree().var(stage.axes[axis]);
    if (static_cast<int>(axis) < lead) {
      outer.push_back(var.name);
    } else {
      row *= static_cast<double>(var.extent);
    }
  }
  // Blocks of rows if rows are short; whole vectors if rows are the lanes.
  const int64_t last = tiling_.trips(index, outer.back());
  const int64_t most = std::max<int64_t>(1, last / (kTasksPerThread * tiling_.target.threads()));
  int64_t block = std::min(most, static_cast<int64_t>(2048 / std::max(1.0, row)));
  if (roles.vector == lead - 1) {
    const int64_t lanes = tiling_.target.lanes(roles.element_bytes);
    block = std::min(last, ceil_div(block, lanes) * lanes);
  }
  if (block > 1 && tiling_.builder.add({Split{name, outer.back(), {block}, Tail::Peel}})) {
    outer.back() = outer.back().child(0);
  }
  if (roles.has_vector() && roles.vector >= lead) move_lanes_inside(index, roles);
  const std::optional<Name> loop = fuse_loops(tiling_, index, outer);
  if (loop && work_is_large && tiling_.target.threads() > 1) {
    tiling_.builder.add({Annotate{name, *loop, Annotation::Parallel}});
  }
  return loop;
}

// Lanes innermost, the other loops unchanged.
void StageTiler::move_lanes_inside(StageIndex index, const AxisRoles& roles) {
  const StageName name = tiling_.name_of(index);
  const int64_t tile = tile_of(index, roles).vector;
  const VarIndex vector = tree().stage(index).axes[static_cast<size_t>(roles.vector)];
  const LoopVar& var = tree().var(vector);
  if (tile < var.extent) tiling_.builder.add({Split{name, var.name, {tile}, Tail::Peel}});
  LoopList loops;
  const VarIndex inner = innermost_part(tree(), vector);
  for (const VarIndex loop : tree().stage(index).loops) {
    if (loop != inner) loops.push_back(tree().var(loop).name);
  }
  loops.push_back(tree().var(inner).name);
  if (tiling_.builder.add({Reorder{name, loops}})) annotate_tile(tiling_, index, roles);
}

void StageTiler::tile_pair(StageIndex reader, StageIndex tiled) {
  const bool large = is_large(tiled);
  const bool light = is_light_window(tree(), tiled, tiling_.target);
  AxisRoles roles = roles_of(tiled, !light);
  const RegisterTile tile = tile_of(tiled, roles);
  if (light) roles.rows = window_rows(tree(), tiled, roles);
  const bool spatial = roles.has_vector() && !roles.vector_reduces;
  auto outer = spatial ? lay_out(reader, roles, tile) : std::nullopt;
  if (!outer || outer->empty()) {
    tile_root(tiled);
    if (!outer) tile_root(reader);
    return;
  }
  make_parallel(tiling_, reader, *outer, large);
  annotate_tile(tiling_, reader, roles);
  const ComputeAt place{tiling_.name_of(tiled), tiling_.name_of(reader), outer->back()};
  if (!tiling_.builder.add({place})) {
    tile_root(tiled);
    return;
  }
  AxisRoles same = roles;  // the axes keep their roles, although tiles are small now
  same.batch = roles_of(tiled, !light).batch;
  const auto extent = [&](int axis) {
    return tree().var(tree().stage(tiled).axes[static_cast<size_t>(axis)]).extent;
  };
  const RegisterTile whole{.vector = extent(roles.vector),
                           .rows = roles.rows == kNoAxis ? 0 : extent(roles.rows)};
  if (!lay_out(tiled, same, whole)) return;
  annotate_tile(tiling_, tiled, same);
  unroll_taps(tiling_, tiled);
  if (!light) pack_operands(tiling_, tiled, same, reader, *outer);
}

}  // namespace tilewright::heuristic
