#include "space/row_layout.h"

#include <algorithm>
#include <utility>

#include "base/rounding.h"
#include "heuristic/tile_sizes.h"
#include "space/sum_layout.h"
#include "space/tile_domain.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

// A remainder is a copy of all stages of the block.
constexpr int64_t kBlocksBeforeRemainder = 8;

// Per choice: blocks per task, tiles per block, rows per tile.
TileDomain row_domain(int64_t extent, bool tails) {
  TileDomain domain{.choices = {}, .extent = extent};
  for (const int64_t rows : heuristic::register_rows(16)) {
    for (const int64_t tiles : heuristic::powers_of_two(8)) {
      const int64_t block = rows * tiles;
      if (!heuristic::may_tile(extent, block, tails, kBlocksBeforeRemainder)) continue;
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

TiledStage lay_out_rows(const LayoutContext& layout, const RowStage& rowed,
                        const PlainLoops& loops) {
  const te::OpId id = op_of(layout.space, rowed.stage);
  const te::Op& op = layout.op(id);
  const heuristic::AxisRoles roles = layout.roles_of(id, layout.has("pack"));
  const auto last_lead = static_cast<size_t>(rowed.lead) - 1;
  TiledStage tiled{
      .inner = rowed.stage, .owner = rowed.root, .op = id, .owner_lane = {}, .inner_lane = {}};
  tiled.outer = {{}, {loops.block}};
  const bool free = roles.has_vector() && !roles.vector_reduces && roles.vector >= rowed.lead;
  tiled.lane_axis = free ? roles.vector : static_cast<int>(op.axes.size()) - 1;
  const te::Axis& rows = op.axes[last_lead];
  const int16_t step = layout.writer.add(Split{rowed.stage, rows.name, {1}});
  TileDomain domain = row_domain(rows.extent.high, layout.has("tails"));
  domain.slices = {{loops.row_step, 0, 2, true}, {step, 2, 1, false}};
  layout.writer.add_hole({step, rowed.stage, std::move(domain), HoleKind::Tile});
  lay_out_sums(layout, &tiled, static_cast<int>(last_lead), 8);
  layout.writer.add(ComputeAt{rowed.stage, rowed.root, loops.block});
  return tiled;
}

}  // namespace tilewright::space
