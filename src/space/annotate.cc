#include "space/annotate.h"

#include "space/annotator.h"
#include "te/predicates.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

constexpr double kThreadedWork = 2e4;  // iterations below which a hole decides about threads

}  // namespace

Annotator::Annotator(const SpaceContext& context, Draft draft)
    : context_(context),
      draft_(std::move(draft)),
      writer_(draft_.sketch),
      tree_(inlined_tree(context, draft_)),
      plan_(heuristic::plan_nests(tree_, 2)) {}

Sketch Annotator::run() {
  for (te::OpId op = static_cast<te::OpId>(context_.dag().ops().size()); op-- > 0;) {
    annotate_operator(op);
  }
  std::string& name = draft_.sketch.name;
  if (name.ends_with(", ")) name.resize(name.size() - 2);
  if (name.empty()) name = "plain";
  return std::move(draft_.sketch);
}

bool Annotator::is_open(te::OpId op) const {
  const StageName stage{context_.dag().op(op).name};
  if (context_.dag().op(op).kind == te::OpKind::Placeholder || draft_.is_inlined(stage)) {
    return false;
  }
  if (Draft::contains(draft_.done, stage) || Draft::contains(draft_.unrolled, stage)) return false;
  if (Draft::contains(draft_.chained, stage)) return false;
  for (const TiledStage& tiled : draft_.tiled) {
    if (tiled.op == op || tiled.owner == stage) return false;
  }
  for (const RowStage& rowed : draft_.rowed) {
    if (rowed.stage == stage) return false;
  }
  return std::ranges::none_of(draft_.factored,
                              [&](const FactoredStage& f) { return f.stage == stage; });
}

void Annotator::annotate_operator(te::OpId op) {
  const StageName stage{context_.dag().op(op).name};
  if (!draft_.chained.empty() && draft_.chained[0] == stage) return annotate_chain(op);
  for (const TiledStage& tiled : draft_.tiled) {
    if (tiled.owner.op == stage.op) return annotate_tiled(tiled);
  }
  for (const FactoredStage& factored : draft_.factored) {
    if (factored.stage == stage) return annotate_factored(factored);
  }
  const bool unrolled = Draft::contains(draft_.unrolled, stage);
  if ((is_open(op) || unrolled) && !placed_.contains(op)) annotate_root(op);
}

bool Annotator::is_worth_threads(te::OpId op) const {
  return heuristic::iterations_of(tree_, tree_.stage(index_of(op))) >= kThreadedWork;
}

Sketch annotate(const SpaceContext& context, Draft draft) {
  return Annotator(context, std::move(draft)).run();
}

}  // namespace tilewright::space
