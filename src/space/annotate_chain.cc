// Annotates a chain of reductions in one nest:
//
//   Y  (h,i.0) parallel, i.1, e            split Y i [f0 * f1]
//   C  at (h,i.0): j.0, i.0, k, i.1, j.1   split C i [f1]: rows in registers
//   M, E, S  at (h,i.0)
//   O  at (h,i.0): e.0, i.0, j, i.1, e.1   split O i [f1]
#include "base/rounding.h"
#include "heuristic/chain_plan.h"
#include "space/annotator.h"
#include "space/tile_domain.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

// Tiles per block, rows per tile.
TileDomain block_domain(int64_t extent, bool tails) {
  TileDomain domain{.choices = {}, .extent = extent};
  for (const int64_t tiles : {1, 2, 3, 4, 6, 8, 12, 16, 32}) {
    for (const int64_t rows : {1, 2, 3, 4, 6, 8, 12, 14}) {
      const int64_t block = tiles * rows;
      if (block > extent || (extent % block != 0 && !(tails && 4 * block <= extent))) continue;
      domain.choices.push_back({tiles, rows});
    }
  }
  return domain;
}

class ChainLayout {
 public:
  ChainLayout(const SpaceContext& context, DraftWriter& writer, const LoopTree& tree,
              const heuristic::Chain& chain)
      : context_(context),
        writer_(writer),
        tree_(tree),
        chain_(chain),
        root_(context.dag().op(static_cast<te::OpId>(chain.root))) {}

  // The loops of the root; returns the parallel one.
  Name lay_out_root() {
    const StageName stage{root_.name};
    const heuristic::AxisRoles roles =
        heuristic::axis_roles(tree_, chain_.root, context_.target(), false);
    const int64_t lanes = std::max(1, context_.target().lanes(roles.element_bytes));
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
    if (context_.target().threads() > 1)
      writer_.annotate(stage, threads.name, Annotation::Parallel);
    if (!lane.empty()) writer_.annotate(stage, lane, Annotation::Vectorize);
    return threads.name;
  }

  // A product within a block, whose rows are split. The caller lays out its other loops.
  TiledStage cut_product(StageIndex product, Name threads) {
    const auto id = static_cast<te::OpId>(product);
    const te::Op& op = context_.dag().op(id);
    const heuristic::AxisRoles roles =
        heuristic::axis_roles(tree_, product, context_.target(), context_.has("pack"));
    TiledStage tiled{
        .inner = {op.name}, .owner = {root_.name}, .op = id, .owner_lane = {}, .inner_lane = {}};
    tiled.outer = {{threads}};
    const bool free = roles.has_vector() && !roles.vector_reduces;
    tiled.lane_axis = free ? roles.vector : static_cast<int>(op.axes.size()) - 1;
    if (const int rows = chain_.dim_of(product, chain_.rows); rows >= 0) {
      const Name axis = op.axes[static_cast<size_t>(rows)].name;
      slices_.push_back({writer_.add(Split{tiled.inner, axis, {1}}), 1, 1, false});
    }
    return tiled;
  }

  // Tile sizes of everything that is split along the rows.
  void add_blocks() {
    if (chain_.rows < 0) return;
    const int64_t extent = root_.axes[static_cast<size_t>(chain_.rows)].extent.high;
    TileDomain domain = block_domain(extent, context_.has("tails"));
    domain.slices = {{row_step_, 0, 1, true}};
    domain.slices.insert(domain.slices.end(), slices_.begin(), slices_.end());
    writer_.add_hole({row_step_, {root_.name}, std::move(domain), HoleKind::Tile});
  }

 private:
  const SpaceContext& context_;
  DraftWriter& writer_;
  const LoopTree& tree_;
  const heuristic::Chain& chain_;
  const te::Op& root_;
  int16_t row_step_ = -1;
  std::vector<TileSlice> slices_;
};

}  // namespace

void Annotator::annotate_chain(te::OpId root) {
  const auto pair = plan_.pairs.find(index_of(root));
  CHECK(pair != plan_.pairs.end(), "{} is not a chain", context_.dag().op(root).name.text());
  const auto chain = heuristic::find_chain(tree_, index_of(root), pair->second);
  CHECK(chain.has_value(), "{} is not a chain", context_.dag().op(root).name.text());
  ChainLayout layout(context_, writer_, tree_, *chain);
  const StageName stage{context_.dag().op(root).name};
  const Name threads = layout.lay_out_root();
  std::vector<TiledStage> products;
  for (const StageIndex member : chain->members) {
    const auto op = static_cast<te::OpId>(member);
    const StageName name{context_.dag().op(op).name};
    const bool product = std::ranges::count(chain->products, member) > 0;
    if (product) {
      products.push_back(layout.cut_product(member, threads));
      lay_out_sums(&products.back(), chain->dim_of(member, chain->rows), 4);
    } else {
      lay_out_plain(op, 0, RowBlocks::Own);
    }
    writer_.add(ComputeAt{name, stage, threads});
  }
  layout.add_blocks();
  for (const TiledStage& product : products) annotate_operands(product, threads);
}

}  // namespace tilewright::space
