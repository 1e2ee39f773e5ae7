#include "space/rules/small_rules.h"

#include <optional>

#include "heuristic/nest_plan.h"
#include "heuristic/transform_tiles.h"
#include "space/draft_writer.h"
#include "space/rules/stage_predicates.h"
#include "te/predicates.h"

namespace tilewright::space {
namespace {

bool has_const_index_hint(const te::Op& op) {
  const auto hinted = [](const te::Axis& axis) { return axis.hints.simplify_const_index; };
  return std::ranges::any_of(op.axes, hinted) || std::ranges::any_of(op.reduce_axes, hinted);
}

// Inlining would recompute it: its location becomes a hole, if that is legal.
bool is_left_open(const SpaceContext& context, const Draft& draft, StageName stage) {
  if (!context.has("locations")) return false;
  const schedule::LoopTree tree = inlined_tree(context, draft);
  return heuristic::copies_inlined(tree, tree.find_stage(stage)) > 1.5;
}

// Where the transform can be computed at the tiles of the result.
std::optional<TransformTiles> tiles_of(const SpaceContext& context, const Draft& draft,
                                       StageName stage) {
  if (!context.has("locations")) return std::nullopt;
  const schedule::LoopTree tree = inlined_tree(context, draft);
  auto reader = heuristic::tile_reader(tree, tree.find_stage(stage));
  if (!reader || !tree.is_output(reader->stage)) return std::nullopt;
  const schedule::Stage& reading = tree.stage(reader->stage);
  if (!is_open(context, draft, reading.op)) return std::nullopt;
  return TransformTiles{stage, reading.name, std::move(reader->sides)};
}

}  // namespace

SketchRule always_inline_rule() {
  return {.name = "always_inline",
          .what = "inlines cheap elementwise producers",
          .applies =
              [](const SpaceContext& context, const Draft&, StageName stage) {
                const te::OpId op = op_of(context, stage);
                const bool inlines = stage.role == schedule::StageRole::Main &&
                                     !te::is_output(context.dag(), op) &&
                                     !context.dag().op(op).has_reduction() &&
                                     te::is_strictly_inlineable(context.dag(), op);
                return inlines ? Applies::SkipTheRest : Applies::No;
              },
          .apply = [](const SpaceContext& context, const Draft& draft,
                      StageName stage) -> std::vector<NextDraft> {
            Draft next = draft;
            if (!is_left_open(context, draft, stage)) {
              DraftWriter(next.sketch).add(schedule::ComputeInline{stage});
              next.inlined.push_back(stage);
            }
            return {{std::move(next), previous_stage(context, stage)}};
          }};
}

SketchRule simplify_const_index_rule() {
  return {.name = "simplify_const_index",
          .what =
              "unrolls axes that index constants completely, so that the constants fold; "
              "computes an inverse transform at the tiles of its reader",
          .applies =
              [](const SpaceContext& context, const Draft&, StageName stage) {
                const te::Op& op = context.dag().op(op_of(context, stage));
                return has_const_index_hint(op) ? Applies::SkipTheRest : Applies::No;
              },
          .apply = [](const SpaceContext& context, const Draft& draft,
                      StageName stage) -> std::vector<NextDraft> {
            Draft next = draft;
            next.unrolled.push_back(stage);
            const StageName previous = previous_stage(context, stage);
            std::vector<NextDraft> drafts = {{next, previous}};
            if (auto tiles = tiles_of(context, draft, stage)) {
              next.sketch.name += "tiles of " + stage.text() + ", ";
              next.transforms.push_back(*std::move(tiles));
              drafts.push_back({std::move(next), previous});
            }
            return drafts;
          }};
}

SketchRule cache_write_rule() {
  return {.name = "cache_write",
          .what = "computes the tile in a separate stage, which the stage itself copies out",
          .applies =
              [](const SpaceContext& context, const Draft& draft, StageName stage) {
                const bool applies = stage.role == schedule::StageRole::Main &&
                                     needs_tiles(context, stage) &&
                                     elementwise_reader(context, draft, stage).op.empty();
                return applies ? Applies::Yes : Applies::No;
              },
          .apply = [](const SpaceContext&, const Draft& draft,
                      StageName stage) -> std::vector<NextDraft> {
            Draft next = draft;
            DraftWriter(next.sketch).add(schedule::CacheWrite{stage});
            next.cached.push_back(stage);
            next.sketch.name += "cache_write " + stage.text() + ", ";
            return {{std::move(next), {stage.op, schedule::StageRole::Write}}};
          }};
}

SketchRule skip_rule() {
  return {.name = "skip",
          .what = "keeps the loops of the stage; holes choose lanes, threads and location",
          .applies = [](const SpaceContext&, const Draft&, StageName) { return Applies::Yes; },
          .apply = [](const SpaceContext& context, const Draft& draft, StageName stage)
              -> std::vector<NextDraft> { return {{draft, previous_stage(context, stage)}}; }};
}

}  // namespace tilewright::space
