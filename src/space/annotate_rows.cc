// Annotates reductions that are computed by blocks of rows of the nest that reads them:
//
//   Y  (b,h,i.0) parallel, i.1, i.2, ...        split Y i [f0, f1 * f2]
//   C  at i.1: j.0, i.0, k, i.1, j.1            split C i [f2]: rows in registers
#include "base/rounding.h"
#include "heuristic/tile_sizes.h"
#include "space/annotator.h"
#include "space/tile_domain.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

// Blocks per task, tiles per block, rows per tile.
TileDomain row_domain(int64_t extent, bool tails) {
  TileDomain domain{.choices = {}, .extent = extent};
  for (const int64_t rows : {1, 2, 3, 4, 6, 8, 12, 14, 16}) {
    for (const int64_t tiles : {1, 2, 4, 8}) {
      const int64_t block = rows * tiles;
      if (block > extent || (extent % block != 0 && !(tails && 8 * block <= extent))) continue;
      for (const int64_t each : heuristic::divisors_of(ceil_div(extent, block))) {
        domain.choices.push_back({each, tiles, rows});
      }
    }
  }
  std::ranges::sort(domain.choices, [](const Factors& a, const Factors& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  });
  if (domain.choices.size() > kMaxTileChoices) keep_some(&domain);
  return domain;
}

}  // namespace

const RowStage* Annotator::rows_in(te::OpId root) const {
  const StageName stage{context_.dag().op(root).name};
  for (const RowStage& rowed : draft_.rowed) {
    if (rowed.root == stage) return &rowed;
  }
  return nullptr;
}

TiledStage Annotator::lay_out_rows(const RowStage& rowed, const PlainLoops& loops) {
  const te::OpId id = op_of(context_, rowed.stage);
  const te::Op& op = context_.dag().op(id);
  const heuristic::AxisRoles roles =
      heuristic::axis_roles(tree_, index_of(id), context_.target(), context_.has("pack"));
  const auto last_lead = static_cast<size_t>(rowed.lead) - 1;
  TiledStage tiled{
      .inner = rowed.stage, .owner = rowed.root, .op = id, .owner_lane = {}, .inner_lane = {}};
  tiled.outer = {{}, {loops.block}};
  const bool free = roles.has_vector() && !roles.vector_reduces && roles.vector >= rowed.lead;
  tiled.lane_axis = free ? roles.vector : static_cast<int>(op.axes.size()) - 1;
  const te::Axis& rows = op.axes[last_lead];
  const int16_t step = writer_.add(Split{rowed.stage, rows.name, {1}});
  TileDomain domain = row_domain(rows.extent.high, context_.has("tails"));
  domain.slices = {{loops.row_step, 0, 2, true}, {step, 2, 1, false}};
  writer_.add_hole({step, rowed.stage, std::move(domain), HoleKind::Tile});
  lay_out_sums(&tiled, static_cast<int>(last_lead), 8);
  writer_.add(ComputeAt{rowed.stage, rowed.root, loops.block});
  return tiled;
}

void Annotator::lay_out_sums(TiledStage* tiled, int rows, int64_t vectors) {
  const te::Op& op = context_.dag().op(tiled->op);
  const StageName stage = tiled->inner;
  const heuristic::AxisRoles roles =
      heuristic::axis_roles(tree_, index_of(tiled->op), context_.target(), context_.has("pack"));
  const int64_t lanes = std::max(1, context_.target().lanes(roles.element_bytes));
  std::vector<Name> order, inside;
  for (int k = 0; k < static_cast<int>(op.axes.size()); ++k) {
    const te::Axis& axis = op.axes[static_cast<size_t>(k)];
    if (k == rows) {
      inside.push_back(axis.name.child(1));
    } else if (k == tiled->lane_axis && axis.extent.high > lanes && !axis.hints.no_split_at_inner) {
      writer_.add_split(stage, axis.name,
                        tile_domain({.extent = axis.extent.high,
                                     .max_innermost = vectors * std::max<int64_t>(16, lanes),
                                     .tails = context_.has("tails"),
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
  if (context_.has("unroll_and_jam") && last.extent.high > 8 && !last.hints.no_split_at_inner) {
    writer_.add_split(stage, last.name,
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
  writer_.reorder(stage, order);
  annotate_innermost(stage, inside, tiled->inner_lane);
  if (!jammed.empty()) writer_.annotate(stage, jammed, Annotation::Unroll);
}

}  // namespace tilewright::space
