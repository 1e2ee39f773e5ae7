#include "space/rules/row_nest.h"

#include "heuristic/nest_plan.h"
#include "space/rules/stage_predicates.h"
#include "te/predicates.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

std::optional<RowStage> row_nest_of(const SpaceContext& context, const Draft& draft,
                                    StageName stage) {
  constexpr int64_t kFewestRows = 4;
  const te::OpId op = op_of(context, stage);
  const LoopTree tree = inlined_tree(context, draft);
  const auto index = static_cast<StageIndex>(op);
  const auto reads = heuristic::accesses_to(tree, index);
  if (reads.empty() || tree.is_output(index)) return std::nullopt;
  for (const auto& [root, group] : heuristic::plan_nests(tree, 2).groups) {
    const bool all = std::ranges::all_of(reads, [&](const Access* access) {
      return access->stage == root ||
             std::ranges::find(group.members, access->stage) != group.members.end();
    });
    const te::OpId root_op = tree.stage(root).op;
    const te::Op& reader = context.dag().op(root_op);
    if (!all || te::common_outer_axes(context.dag(), op, root_op) < group.lead) continue;
    const bool taken = std::ranges::any_of(
        draft.rowed, [&](const RowStage& other) { return other.root.op == reader.name; });
    const bool rows = reader.axes[static_cast<size_t>(group.lead) - 1].extent.high >= kFewestRows;
    if (!taken && rows) return RowStage{stage, {reader.name}, group.lead};
  }
  return std::nullopt;
}

}  // namespace

SketchRule row_nest_rule() {
  return {.name = "row_nest",
          .what = "computes a reduction inside its reader, some rows at a time",
          .applies =
              [](const SpaceContext& context, const Draft& draft, StageName stage) {
                const bool applies = context.has("rows") && stage.role == StageRole::Main &&
                                     needs_tiles(context, stage) &&
                                     row_nest_of(context, draft, stage).has_value();
                return applies ? Applies::Yes : Applies::No;
              },
          .apply = [](const SpaceContext& context, const Draft& draft,
                      StageName stage) -> std::vector<NextDraft> {
            Draft next = draft;
            next.rowed.push_back(*row_nest_of(context, draft, stage));
            next.sketch.name +=
                stage.text() + " by rows of " + next.rowed.back().root.text() + ", ";
            return {{std::move(next), previous_stage(context, stage)}};
          }};
}

}  // namespace tilewright::space
