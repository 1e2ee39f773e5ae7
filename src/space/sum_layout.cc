#include "space/sum_layout.h"

#include <algorithm>

#include "space/tile_domain.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

void lay_out_sums(const LayoutContext& layout, TiledStage* tiled, int rows, int64_t vectors) {
  const te::Op& op = layout.op(tiled->op);
  const StageName stage = tiled->inner;
  const heuristic::AxisRoles roles = layout.roles_of(tiled->op, layout.has("pack"));
  const int64_t lanes = layout.lanes_of(roles.element_bytes);
  std::vector<Name> order, inside;
  for (int k = 0; k < static_cast<int>(op.axes.size()); ++k) {
    const te::Axis& axis = op.axes[static_cast<size_t>(k)];
    if (k == rows) {
      inside.push_back(axis.name.child(1));
    } else if (k == tiled->lane_axis && axis.extent.high > lanes && !axis.hints.no_split_at_inner) {
      layout.writer.add_split(stage, axis.name,
                              tile_domain({.extent = axis.extent.high,
                                           .max_innermost = vectors * std::max<int64_t>(16, lanes),
                                           .tails = layout.has("tails"),
                                           .lanes = lanes}));
      order.push_back(axis.name.child(0));
      tiled->inner_lane = axis.name.child(1);
    } else if (k == tiled->lane_axis) {
      tiled->inner_lane = axis.name;
    } else {
      order.push_back(axis.name);
    }
  }
  if (rows >= 0) order.push_back(op.axes[static_cast<size_t>(rows)].name.child(0));
  std::vector<Name> reduce;
  reduce.reserve(op.reduce_axes.size());
  for (const te::Axis& axis : op.reduce_axes) reduce.push_back(axis.name);
  const te::Axis& last = op.reduce_axes.back();
  Name jammed;
  if (layout.has("unroll_and_jam") && last.extent.high > 8 && !last.hints.no_split_at_inner) {
    layout.writer.add_split(stage, last.name,
                            tile_domain({.extent = last.extent.high, .max_innermost = 8}));
    reduce.back() = last.name.child(0);
    jammed = last.name.child(1);
  }
  if (!tiled->inner_lane.empty()) inside.push_back(tiled->inner_lane);
  tiled->inner_levels = {reduce, inside};
  tiled->inner_reduces = {true, false};
  order.insert(order.end(), reduce.begin(), reduce.end());
  if (!jammed.empty()) order.push_back(jammed);
  order.insert(order.end(), inside.begin(), inside.end());
  layout.writer.reorder(stage, order);
  layout.writer.annotate_innermost(stage, inside, tiled->inner_lane);
  if (!jammed.empty()) layout.writer.annotate(stage, jammed, Annotation::Unroll);
}

}  // namespace tilewright::space
