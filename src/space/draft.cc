#include "space/draft.h"

#include "schedule/apply.h"

namespace tilewright::space {

te::OpId op_of(const SpaceContext& context, StageName stage) {
  const auto op = context.dag().find_op(stage.op);
  CHECK(op.has_value(), "no operator {}", stage.op.text());
  return *op;
}

const RowStage* Draft::rows_in(StageName root) const {
  const auto found = std::ranges::find(rowed, root, &RowStage::root);
  return found == rowed.end() ? nullptr : &*found;
}

const TransformTiles* Draft::tiles_in(StageName reader) const {
  const auto found = std::ranges::find(transforms, reader, &TransformTiles::reader);
  return found == transforms.end() ? nullptr : &*found;
}

bool is_open(const SpaceContext& context, const Draft& draft, te::OpId op) {
  const StageName stage{context.dag().op(op).name};
  if (context.dag().op(op).kind == te::OpKind::Placeholder || draft.is_inlined(stage)) {
    return false;
  }
  for (const auto* decided : {&draft.done, &draft.unrolled, &draft.chained}) {
    if (Draft::contains(*decided, stage)) return false;
  }
  const auto is_tiled = [&](const TiledStage& tiled) {
    return tiled.op == op || tiled.owner == stage;
  };
  return std::ranges::none_of(draft.tiled, is_tiled) &&
         std::ranges::find(draft.rowed, stage, &RowStage::stage) == draft.rowed.end() &&
         std::ranges::find(draft.factored, stage, &FactoredStage::stage) == draft.factored.end();
}

StageName previous_stage(const SpaceContext& context, StageName stage) {
  for (te::OpId op = op_of(context, stage); op-- > 0;) {
    if (context.dag().op(op).kind != te::OpKind::Placeholder) return {context.dag().op(op).name};
  }
  return {};
}

schedule::LoopTree inlined_tree(const SpaceContext& context, const Draft& draft) {
  schedule::Trace trace;
  for (const StageName& stage : draft.inlined) {
    trace.steps.emplace_back(schedule::ComputeInline{stage});
  }
  schedule::LoopTree tree;
  if (schedule::apply(*context.initial, trace, &tree)) return *context.plain;
  return tree;
}

}  // namespace tilewright::space
