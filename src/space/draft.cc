#include "space/draft.h"

#include "schedule/apply.h"

namespace tilewright::space {

te::OpId op_of(const SpaceContext& context, StageName stage) {
  const auto op = context.dag().find_op(stage.op);
  CHECK(op.has_value(), "no operator {}", stage.op.text());
  return *op;
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
