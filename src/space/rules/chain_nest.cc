#include "space/rules/chain_nest.h"

#include "heuristic/chain_plan.h"
#include "heuristic/nest_plan.h"
#include "space/draft_writer.h"
#include "te/predicates.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

// Cheap stages that depend on a reduction are inlined.
std::vector<StageName> inlined_between(const te::Dag& dag) {
  std::vector<StageName> stages;
  std::vector<bool> deep(dag.ops().size());
  for (te::OpId op = 0; op < dag.ops().size(); ++op) {
    const te::Op& each = dag.op(op);
    if (each.kind == te::OpKind::Placeholder) continue;
    bool depends = each.has_reduction();
    for (const te::OpId from : dag.producers(op)) depends = depends || deep[from];
    deep[op] = depends;
    if (depends && !each.has_reduction() && !te::is_output(dag, op) &&
        te::is_strictly_inlineable(dag, op)) {
      stages.push_back({each.name});
    }
  }
  return stages;
}

// The chain that ends in the stage, after the draft's inlining.
std::optional<heuristic::Chain> chain_of(const SpaceContext& context, const Draft& draft,
                                         StageName stage) {
  const LoopTree tree = inlined_tree(context, draft);
  const auto root = static_cast<StageIndex>(op_of(context, stage));
  const heuristic::NestPlan plan = heuristic::plan_nests(tree, 2);
  const auto pair = plan.pairs.find(root);
  return pair == plan.pairs.end() ? std::nullopt : heuristic::find_chain(tree, root, pair->second);
}

Draft with_inlined(const SpaceContext& context, const Draft& draft) {
  Draft next = draft;
  for (const StageName stage : inlined_between(context.dag())) {
    if (!next.is_inlined(stage)) next.inlined.push_back(stage);
  }
  return next;
}

}  // namespace

SketchRule chain_nest_rule() {
  return {.name = "chain_nest",
          .what = "computes a reduction and the reduction it reads in one nest, by blocks of rows",
          .applies =
              [](const SpaceContext& context, const Draft& draft, StageName stage) {
                const te::OpId op = op_of(context, stage);
                const bool applies =
                    context.has("rows") && stage.role == StageRole::Main &&
                    te::is_output(context.dag(), op) && draft.sketch.trace.steps.empty() &&
                    chain_of(context, with_inlined(context, draft), stage).has_value();
                return applies ? Applies::Yes : Applies::No;
              },
          .apply = [](const SpaceContext& context, const Draft& draft,
                      StageName stage) -> std::vector<NextDraft> {
            Draft next = with_inlined(context, draft);
            const heuristic::Chain chain = *chain_of(context, next, stage);
            DraftWriter writer(next.sketch);
            for (const StageName inlined : next.inlined) writer.add(ComputeInline{inlined});
            te::OpId first = op_of(context, stage);
            next.chained = {stage};
            for (const StageIndex member : chain.members) {
              const auto op = static_cast<te::OpId>(member);
              next.chained.push_back({context.dag().op(op).name});
              first = std::min(first, op);
            }
            next.sketch.name += "all by rows of " + stage.text() + ", ";
            return {{std::move(next), previous_stage(context, {context.dag().op(first).name})}};
          }};
}

}  // namespace tilewright::space
