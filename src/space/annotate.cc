#include "space/annotate.h"

#include "space/annotator.h"
#include "space/tile_domain.h"
#include "te/predicates.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

constexpr double kThreadedWork = 2e4;  // iterations below which threads are a matter of choice

}  // namespace

Annotator::Annotator(const SpaceContext& context, Draft draft)
    : context_(context),
      draft_(std::move(draft)),
      writer_(draft_.sketch),
      tree_(inlined_tree(context, draft_)),
      plan_(plan_nests(tree_, 2)) {}

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
  return iterations_of(tree_, tree_.stage(index_of(op))) >= kThreadedWork;
}

// The partial results: threads share them, or their last dimension is lanes. Then the fold.
void Annotator::annotate_factored(const FactoredStage& factored) {
  const te::OpId id = op_of(context_, factored.stage);
  const te::Op& op = context_.dag().op(id);
  const StageName partial{factored.stage.op, StageRole::Rfactor};
  const Name taken = factored.axis.child(factored.outer ? 0 : 1);
  const Name left = factored.axis.child(factored.outer ? 1 : 0);
  const AxisRoles roles = axis_roles(tree_, index_of(id), context_.target(), false);
  const int64_t lanes = std::max(1, context_.target().lanes(roles.element_bytes));
  std::vector<Name> spatial, reduce;
  for (const te::Axis& axis : op.axes) spatial.push_back(axis.name);
  for (const te::Axis& axis : op.reduce_axes) {
    reduce.push_back(axis.name == factored.axis ? left : axis.name);
  }
  std::vector<Name> order;
  std::vector<Name> threads;
  Name lane;
  if (factored.outer) {
    threads.push_back(taken);
    for (const Name axis : spatial) threads.push_back(axis);
    // Lanes: the last reduce axis that is not short, or what is left of it.
    const te::Axis& last = op.reduce_axes.back();
    const int64_t extent = last.name == factored.axis ? last.extent.high / 2 : last.extent.high;
    const bool folds = roles.vector_reduces || !roles.has_vector();
    if (folds && extent >= 2 * lanes) {
      const Name loop = reduce.back();
      TileDomain domain{.choices = {}, .extent = 0};
      for (const int64_t vectors : {1, 2, 4, 8}) domain.choices.push_back({vectors * lanes});
      writer_.add_split(partial, loop, std::move(domain));
      reduce.back() = loop.child(0);
      lane = loop.child(1);
    } else if (!folds && roles.vector < static_cast<int>(spatial.size())) {
      const auto axis = static_cast<size_t>(roles.vector);
      lane = spatial[axis];
      if (op.axes[axis].extent.high > 4 * lanes) {
        TileDomain domain{.choices = {}, .extent = op.axes[axis].extent.high};
        for (const int64_t vectors : {1, 2, 4}) domain.choices.push_back({vectors * lanes});
        writer_.add_split(partial, lane, std::move(domain));
        threads[axis + 1] = lane.child(0);
        lane = lane.child(1);
      } else {
        threads.erase(threads.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
      }
    }
  } else {
    threads = spatial;
    lane = taken;
  }
  order = threads;
  order.insert(order.end(), reduce.begin(), reduce.end());
  if (!lane.empty()) order.push_back(lane);
  writer_.reorder(partial, order);
  if (!lane.empty()) writer_.annotate(partial, lane, Annotation::Vectorise);
  std::vector<Steps> choices;
  if (!is_worth_threads(id) || context_.target().threads == 1) choices.push_back({});
  for (size_t count = 1; count <= threads.size() && context_.target().threads > 1; ++count) {
    FusedLoops fused = fuse_loops(partial, std::span(threads).first(count));
    fused.steps.emplace_back(Annotate{partial, fused.name, Annotation::Parallel});
    choices.push_back(std::move(fused.steps));
  }
  if (choices.empty()) choices.push_back({});
  writer_.add_one_of(factored.stage, HoleKind::Parallel, std::move(choices));
  lay_out_fold(id);
  Nest nest{.root = factored.stage, .variants = {{}}, .inside = {id}};
  place_members(nest);
}

// The stage that folds the partial results: lanes where a spatial axis is long enough.
void Annotator::lay_out_fold(te::OpId id) {
  const te::Op& op = context_.dag().op(id);
  if (op.axes.empty()) return;
  const int64_t lanes = std::max(1, context_.target().lanes(4));
  const te::Axis& last = op.axes.back();
  if (last.extent.high < lanes || last.extent.high > 8 * lanes) return;
  const StageName stage{op.name};
  writer_.add_maybe(stage, HoleKind::Vectorise, Annotate{stage, last.name, Annotation::Vectorise});
}

Sketch annotate(const SpaceContext& context, Draft draft) {
  return Annotator(context, std::move(draft)).run();
}

}  // namespace tilewright::space
