// Annotates factored reductions: threads share the partial results, or their last dimension is
// vectorized.
//
//   Y.rfactor  k.0 parallel, i, k.1.0, k.1.1 vectorize     for threads
//   Y.rfactor  i parallel, k.0, k.1 vectorize              for lanes
//   Y          folds them
#include "space/annotator.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

constexpr int64_t kFewLanes = 4;  // of a short axis: fewer lanes are not worth a vector
// A loop next to the lanes may be unrolled up to this extent.
constexpr int64_t kShortUnrolled = 16;

// Lays out the loops of the stage with the partial results.
class FactoredLayout {
 public:
  FactoredLayout(const SpaceContext& context, DraftWriter& writer,
                 const heuristic::AxisRoles& roles, const te::Op& op, const FactoredStage& factored)
      : context_(context),
        writer_(writer),
        roles_(roles),
        op_(op),
        factored_(factored),
        stage_{factored.stage.op, StageRole::Rfactor},
        lanes_(std::max(1, context.target().lanes(roles.element_bytes))) {}

  // The loops that threads may share, outermost first.
  std::vector<Name> run() {
    const Name taken = factored_.axis.child(factored_.outer ? 0 : 1);
    const Name left = factored_.axis.child(factored_.outer ? 1 : 0);
    if (factored_.outer) threads_.push_back(taken);
    for (const te::Axis& axis : op_.axes) threads_.push_back(axis.name);
    for (const te::Axis& axis : op_.reduce_axes) {
      reduce_.push_back(axis.name == factored_.axis ? left : axis.name);
    }
    const bool folds = roles_.vector_reduces || !roles_.has_vector();
    if (!factored_.outer) {
      lane_ = taken;
    } else if (folds) {
      lanes_of_reduction();
    } else if (roles_.vector < static_cast<int>(op_.axes.size())) {
      lanes_of_space(static_cast<size_t>(roles_.vector));
    }
    std::vector<Name> order = threads_;
    order.insert(order.end(), reduce_.begin(), reduce_.end());
    if (!lane_.empty()) order.push_back(lane_);
    writer_.reorder(stage_, order);
    if (!lane_.empty()) writer_.annotate(stage_, lane_, Annotation::Vectorize);
    if (!unrolled_.empty()) {
      writer_.add_maybe(factored_.stage, HoleKind::Unroll,
                        Annotate{stage_, unrolled_, Annotation::Unroll});
    }
    return std::move(threads_);
  }

 private:
  // This many vectors, or fewer that divide.
  TileDomain vectors_of(int64_t extent, std::initializer_list<int64_t> counts) const {
    TileDomain domain{.choices = {}, .extent = 0};
    for (const int64_t vectors : counts) {
      const bool divides = extent % (vectors * lanes_) == 0;
      if (divides || context_.has("tails")) domain.choices.push_back({vectors * lanes_});
    }
    return domain;
  }

  // Lanes are the last reduce axis, or the rest of it: in parts, or whole if it is short.
  void lanes_of_reduction() {
    const te::Axis& last = op_.reduce_axes.back();
    const bool is_left = last.name == factored_.axis;
    const int64_t extent = is_left ? last.extent.high / 2 : last.extent.high;
    const Name loop = reduce_.back();
    if (extent >= 2 * lanes_) {
      TileDomain domain = vectors_of(is_left ? factored_.unit : extent, {1, 2, 4, 8});
      if (domain.choices.empty()) return;
      writer_.add_split(stage_, loop, std::move(domain));
      reduce_.back() = loop.child(0);
      lane_ = loop.child(1);
    } else if (extent >= kFewLanes && !is_left && context_.has("reduction_lanes")) {
      lane_ = loop;
      reduce_.pop_back();
      const te::Axis& beside = op_.reduce_axes[reduce_.size() - 1];
      const bool is_short = beside.extent.high <= kShortUnrolled;
      if (is_short && !(beside.name == factored_.axis)) unrolled_ = beside.name;
    }
  }

  void lanes_of_space(size_t axis) {
    const te::Axis& along = op_.axes[axis];
    const int64_t extent = along.extent.high;
    if (extent <= 4 * lanes_) {
      lane_ = along.name;
      threads_.erase(threads_.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
      return;
    }
    TileDomain domain = vectors_of(extent, {1, 2, 4});
    if (domain.choices.empty()) return;
    domain.extent = extent;
    writer_.add_split(stage_, along.name, std::move(domain));
    threads_[axis + 1] = along.name.child(0);
    lane_ = along.name.child(1);
  }

  const SpaceContext& context_;
  DraftWriter& writer_;
  const heuristic::AxisRoles& roles_;
  const te::Op& op_;
  const FactoredStage& factored_;
  StageName stage_;
  int64_t lanes_;
  std::vector<Name> threads_, reduce_;
  Name lane_, unrolled_;
};

}  // namespace

void Annotator::annotate_factored(const FactoredStage& factored) {
  const te::OpId id = op_of(context_, factored.stage);
  const te::Op& op = context_.dag().op(id);
  const StageName partial{factored.stage.op, StageRole::Rfactor};
  const heuristic::AxisRoles roles =
      heuristic::axis_roles(tree_, index_of(id), context_.target(), false);
  const std::vector<Name> threads = FactoredLayout(context_, writer_, roles, op, factored).run();
  std::vector<Steps> choices;
  if (!is_worth_threads(id) || context_.target().threads() == 1) choices.push_back({});
  for (size_t count = 1; count <= threads.size() && context_.target().threads() > 1; ++count) {
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

// The stage that folds the partial results: lanes if a spatial axis is long enough.
void Annotator::lay_out_fold(te::OpId id) {
  const te::Op& op = context_.dag().op(id);
  if (op.axes.empty()) return;
  const int64_t lanes = std::max(1, context_.target().lanes(4));
  const te::Axis& last = op.axes.back();
  if (last.extent.high < lanes || last.extent.high > 8 * lanes) return;
  const StageName stage{op.name};
  writer_.add_maybe(stage, HoleKind::Vectorize, Annotate{stage, last.name, Annotation::Vectorize});
}

}  // namespace tilewright::space
