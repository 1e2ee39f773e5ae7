#include "space/chain_layout.h"

#include <algorithm>
#include <utility>

#include "heuristic/tile_sizes.h"
#include "space/operand_holes.h"
#include "space/plain_layout.h"
#include "space/sum_layout.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

// Tiles per block, rows per tile.
TileDomain block_domain(int64_t extent, bool tails) {
  TileDomain domain{.choices = {}, .extent = extent};
  for (const int64_t tiles : heuristic::block_sizes(32)) {
    for (const int64_t rows : heuristic::register_rows(14)) {
      if (heuristic::may_tile(extent, tiles * rows, tails)) domain.choices.push_back({tiles, rows});
    }
  }
  return domain;
}

class ChainLayout {
 public:
  ChainLayout(const LayoutContext& layout, const heuristic::Chain& chain)
      : layout_(layout),
        writer_(layout.writer),
        chain_(chain),
        root_(layout.op(static_cast<te::OpId>(chain.root))) {}

  void run() {
    const Name threads = lay_out_root();
    std::vector<TiledStage> products;
    for (const StageIndex member : chain_.members) {
      const auto op = static_cast<te::OpId>(member);
      if (std::ranges::count(chain_.products, member) > 0) {
        products.push_back(cut_product(op, threads));
        lay_out_sums(layout_, &products.back(), chain_.dim_of(member, chain_.rows), 4);
      } else {
        lay_out_plain(layout_, op, 0, RowBlocks::Own);
      }
      writer_.add(ComputeAt{{layout_.op(op).name}, {root_.name}, threads});
    }
    add_blocks();
    for (const TiledStage& product : products) add_operand_holes(layout_, product, threads);
  }

 private:
  // Lays out the loops of the root. Returns the one that threads share.
  Name lay_out_root() {
    const StageName stage{root_.name};
    const heuristic::AxisRoles roles = layout_.roles_of(static_cast<te::OpId>(chain_.root), false);
    const int64_t lanes = layout_.lanes_of(roles.element_bytes);
    std::vector<Name> outer, order;
    Name lane;
    for (int axis = 0; axis < static_cast<int>(root_.axes.size()); ++axis) {
      const te::Axis& each = root_.axes[static_cast<size_t>(axis)];
      const bool shared = std::ranges::find(chain_.shared, axis) != chain_.shared.end();
      if (axis == chain_.rows) {
        row_step_ = writer_.add(Split{stage, each.name, {1}});
        outer.push_back(each.name.child(0));
        order.push_back(each.name.child(1));
      } else if (shared) {
        outer.push_back(each.name);
      } else if (axis == roles.vector && each.extent.high > 4 * lanes) {
        writer_.add(Split{stage, each.name, {4 * lanes}});
        order.push_back(each.name.child(0));
        lane = each.name.child(1);
      } else if (axis == roles.vector) {
        lane = each.name;
      } else {
        order.push_back(each.name);
      }
    }
    std::vector<Name> all = outer;
    all.insert(all.end(), order.begin(), order.end());
    if (!lane.empty()) all.push_back(lane);
    writer_.reorder(stage, all);
    const FusedLoops threads = fuse_loops(stage, outer);
    writer_.add(threads.steps);
    if (layout_.target().threads() > 1) writer_.annotate(stage, threads.name, Annotation::Parallel);
    if (!lane.empty()) writer_.annotate(stage, lane, Annotation::Vectorize);
    return threads.name;
  }

  // A product of a block, whose rows are split. lay_out_sums lays out its other loops.
  TiledStage cut_product(te::OpId id, Name threads) {
    const te::Op& op = layout_.op(id);
    const heuristic::AxisRoles roles = layout_.roles_of(id, layout_.has("pack"));
    TiledStage tiled{
        .inner = {op.name}, .owner = {root_.name}, .op = id, .owner_lane = {}, .inner_lane = {}};
    tiled.outer = {{threads}};
    const bool free = roles.has_vector() && !roles.vector_reduces;
    tiled.lane_axis = free ? roles.vector : static_cast<int>(op.axes.size()) - 1;
    if (const int rows = chain_.dim_of(LayoutContext::index_of(id), chain_.rows); rows >= 0) {
      const Name axis = op.axes[static_cast<size_t>(rows)].name;
      slices_.push_back({writer_.add(Split{tiled.inner, axis, {1}}), 1, 1, false});
    }
    return tiled;
  }

  // Tile sizes of everything that is split along the rows.
  void add_blocks() {
    if (chain_.rows < 0) return;
    const int64_t extent = root_.axes[static_cast<size_t>(chain_.rows)].extent.high;
    TileDomain domain = block_domain(extent, layout_.has("tails"));
    domain.slices = {{row_step_, 0, 1, true}};
    domain.slices.insert(domain.slices.end(), slices_.begin(), slices_.end());
    writer_.add_hole({row_step_, {root_.name}, std::move(domain), HoleKind::Tile});
  }

  const LayoutContext& layout_;
  DraftWriter& writer_;
  const heuristic::Chain& chain_;
  const te::Op& root_;
  int16_t row_step_ = -1;
  std::vector<TileSlice> slices_;
};

}  // namespace

void lay_out_chain(const LayoutContext& layout, const heuristic::Chain& chain) {
  ChainLayout(layout, chain).run();
}

}  // namespace tilewright::space
