#include "space/rules/tile.h"

#include "space/rules/stage_predicates.h"
#include "space/rules/tiler.h"
#include "te/predicates.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

// If no spatial axis fills a vector: the last reduce axis that does, whose lanes hold partial
// results.
int reduced_lanes(const SpaceContext& context, const te::Op& op, const std::vector<int>& spatial) {
  if (!context.has("reduction_lanes")) return heuristic::kNoAxis;
  const int64_t lanes = context.target().lanes(4);
  for (const int axis : spatial) {
    const auto k = static_cast<size_t>(axis);
    if (k >= op.axes.size() || op.axes[k].extent.high >= lanes) return heuristic::kNoAxis;
  }
  for (size_t k = op.reduce_axes.size(); k-- > 0;) {
    if (op.reduce_axes[k].extent.high >= lanes) return static_cast<int>(op.axes.size() + k);
  }
  return heuristic::kNoAxis;
}

// Lane axes worth trying: the axis preferred by the accesses first, then the last one.
std::vector<int> lane_axes(const SpaceContext& context, const LoopTree& tree, StageName stage) {
  const StageIndex index = tree.find_stage({stage.op});
  const heuristic::AxisRoles roles =
      heuristic::axis_roles(tree, index, context.target(), context.has("pack"));
  const te::Op& op = context.dag().op(op_of(context, stage));
  std::vector<int> axes;
  if (roles.has_vector()) axes.push_back(roles.vector);
  for (size_t k = op.axes.size(); k-- > 0;) {
    if (op.axes[k].extent.high < 2) continue;
    if (axes.empty() || axes[0] != static_cast<int>(k)) axes.push_back(static_cast<int>(k));
    break;
  }
  const int reduced = reduced_lanes(context, op, axes);
  if (reduced != heuristic::kNoAxis) axes.insert(axes.begin(), reduced);
  if (axes.empty()) axes.push_back(heuristic::kNoAxis);
  return axes;
}

// With many tiled stages, each gets fewer structures, because their number is a product.
int tiled_operators(const SpaceContext& context) {
  int count = 0;
  for (te::OpId op = 0; op < context.dag().ops().size(); ++op) {
    const te::Op& each = context.dag().op(op);
    if (each.has_reduction() && te::needs_multi_level_tiling(context.dag(), op)) ++count;
  }
  return count;
}

bool has_quotients(const LoopTree& tree, StageName stage) {
  for (const Access& access : tree.reads_of(tree.stage(tree.find_stage({stage.op})))) {
    for (size_t d = access.first_dim; d < access.first_dim + size_t{access.rank}; ++d) {
      if (tree.dims[d].quasi_affine) return true;
    }
  }
  return false;
}

std::vector<TileShape> shapes_for(const SpaceContext& context, const LoopTree& tree,
                                  StageName stage, bool fused) {
  const std::vector<int> lanes = lane_axes(context, tree, stage);
  const int lane = lanes[0];
  if (!context.has("tile_structures")) {
    if (!fused) return {{"SSRSRS", 0, lane}};
    return {{"SSRSRS", 1, lane}, {"SSRSRS", 2, lane}};
  }
  const int tiled = tiled_operators(context);
  std::vector<TileShape> shapes;
  if (fused) {
    shapes.push_back({"SSRS", 2, lane});
    if (tiled <= 2) shapes.push_back({"SSRSRS", 2, lane});
    if (tiled <= 1) shapes.push_back({"SSRSRS", 1, lane});
    if (tiled <= 1 && lanes.size() > 1) shapes.push_back({"SSRS", 2, lanes[1]});
  } else {
    shapes.push_back({"SSRS", 0, lane});
    if (tiled <= 1) shapes.push_back({"SSRSRS", 0, lane});
    if (tiled <= 1 && lanes.size() > 1) shapes.push_back({"SSRS", 0, lanes[1]});
    if (has_quotients(tree, stage)) shapes.push_back({"SSRS", 0, lane, true});
  }
  return shapes;
}

std::vector<NextDraft> apply_tiles(const SpaceContext& context, const Draft& draft, StageName stage,
                                   StageName owner) {
  const LoopTree tree = inlined_tree(context, draft);
  const bool fused = !(owner == stage);
  std::vector<NextDraft> drafts;
  for (const TileShape& shape : shapes_for(context, tree, stage, fused)) {
    Draft next = draft;
    tile_stage(context, next, tree, stage, owner, shape);
    std::string& name = next.sketch.name;
    name += "tile " + stage.text() + " " + shape.structure;
    if (fused) name += " in " + owner.text() + " at " + std::to_string(shape.level);
    if (shape.phased) name += " by phase";
    if (shape.lane != lane_axes(context, tree, stage)[0]) name += " other lanes";
    name += ", ";
    drafts.push_back({std::move(next), previous_stage(context, {stage.op})});
  }
  return drafts;
}

// True if the stage may own the tiles of another: no step has changed its loops yet.
bool may_own(const Draft& draft, StageName stage) {
  if (stage.op.empty() || Draft::contains(draft.unrolled, stage)) return false;
  if (Draft::contains(draft.done, stage) || draft.tiles_in(stage) != nullptr) return false;
  for (const FactoredStage& other : draft.factored) {
    if (other.stage == stage) return false;
  }
  for (const TiledStage& other : draft.tiled) {
    if (other.owner == stage || other.inner.op == stage.op) return false;
  }
  return true;
}

}  // namespace

SketchRule tile_and_fuse_rule() {
  return {.name = "tile_and_fuse",
          .what = "tiles in several levels, computed inside the elementwise reader",
          .applies =
              [](const SpaceContext& context, const Draft& draft, StageName stage) {
                if (!needs_tiles(context, stage)) return Applies::No;
                const StageName owner = elementwise_reader(context, draft, stage);
                if (!may_own(draft, owner)) return Applies::No;
                const bool cached = stage.role == StageRole::Write;
                return cached ? Applies::SkipTheRest : Applies::Yes;
              },
          .apply =
              [](const SpaceContext& context, const Draft& draft, StageName stage) {
                return apply_tiles(context, draft, stage,
                                   elementwise_reader(context, draft, stage));
              }};
}

SketchRule tile_rule() {
  return {.name = "tile",
          .what = "tiles in several levels",
          .applies =
              [](const SpaceContext& context, const Draft&, StageName stage) {
                return needs_tiles(context, stage) ? Applies::SkipTheRest : Applies::No;
              },
          .apply = [](const SpaceContext& context, const Draft& draft,
                      StageName stage) { return apply_tiles(context, draft, stage, stage); }};
}

}  // namespace tilewright::space
