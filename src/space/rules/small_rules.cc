// The short rules (inline, constant indices, cache_write, skip) and the table.
#include "heuristic/nest_plan.h"
#include "space/draft_writer.h"
#include "space/rules/rules.h"
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

}  // namespace

StageName elementwise_reader(const SpaceContext& context, const Draft& draft, StageName stage) {
  const te::Dag& dag = context.dag();
  const te::OpId op = op_of(context, stage);
  if (stage.role == schedule::StageRole::Write) return {stage.op};
  te::OpId reader = op;
  do {
    if (dag.consumers(reader).size() != 1) return {};
    reader = dag.consumers(reader)[0];
  } while (draft.is_inlined({dag.op(reader).name}));
  if (dag.op(op).has_reduction() && dag.op(reader).has_reduction()) return {};
  return te::is_elementwise_match(dag, op, reader) ? StageName{dag.op(reader).name} : StageName{};
}

bool needs_tiles(const SpaceContext& context, StageName stage) {
  const te::OpId op = op_of(context, stage);
  // Without a reduction there are no accumulators: rows and vectors suffice.
  if (context.has("tile_structures") && !context.dag().op(op).has_reduction()) return false;
  return te::needs_multi_level_tiling(context.dag(), op);
}

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
          .what = "unrolls axes that index constants completely, so that the constants fold",
          .applies =
              [](const SpaceContext& context, const Draft&, StageName stage) {
                const te::Op& op = context.dag().op(op_of(context, stage));
                return has_const_index_hint(op) ? Applies::SkipTheRest : Applies::No;
              },
          .apply = [](const SpaceContext& context, const Draft& draft,
                      StageName stage) -> std::vector<NextDraft> {
            Draft next = draft;
            next.unrolled.push_back(stage);
            return {{std::move(next), previous_stage(context, stage)}};
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

std::vector<SketchRule> sketch_rules(const Target& /*target*/) {
  return {
      always_inline_rule(), simplify_const_index_rule(), rfactor_rule(),       chain_nest_rule(),
      row_nest_rule(),      cache_write_rule(),          tile_and_fuse_rule(), tile_rule(),
      skip_rule()};
}

}  // namespace tilewright::space
