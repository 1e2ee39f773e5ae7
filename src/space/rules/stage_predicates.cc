#include "space/rules/stage_predicates.h"

#include "te/predicates.h"

namespace tilewright::space {

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
  // Without a reduction rows and vectors do: nothing is summed in registers.
  if (context.has("tile_structures") && !context.dag().op(op).has_reduction()) return false;
  return te::needs_multi_level_tiling(context.dag(), op);
}

}  // namespace tilewright::space
