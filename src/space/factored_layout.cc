#include "space/factored_layout.h"

#include <utility>

#include "heuristic/thread_loops.h"
#include "heuristic/tile_sizes.h"
#include "space/thread_variants.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

constexpr int64_t kFewLanes = 4;  // of a short axis: fewer lanes are not worth a vector
// A loop next to the lanes may be unrolled up to this extent.
constexpr int64_t kShortUnrolled = 16;

// Lays out the loops of the stage with the partial results.
class PartialResults {
 public:
  PartialResults(const LayoutContext& layout, te::OpId op, const FactoredStage& factored)
      : layout_(layout),
        writer_(layout.writer),
        roles_(layout.roles_of(op, false)),
        op_(layout.op(op)),
        factored_(factored),
        stage_{factored.stage.op, StageRole::Rfactor},
        lanes_(layout.lanes_of(roles_.element_bytes)) {}

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
  // Up to this many vectors.
  TileDomain vectors_of(int64_t extent, int64_t limit) const {
    TileDomain domain{.choices = {}, .extent = 0};
    for (const int64_t vectors : heuristic::powers_of_two(limit)) {
      const int64_t size = vectors * lanes_;
      if (heuristic::may_tile(extent, size, layout_.has("tails"), 0)) {
        domain.choices.push_back({size});
      }
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
      TileDomain domain = vectors_of(is_left ? factored_.unit : extent, 8);
      if (domain.choices.empty()) return;
      writer_.add_split(stage_, loop, std::move(domain));
      reduce_.back() = loop.child(0);
      lane_ = loop.child(1);
    } else if (extent >= kFewLanes && !is_left && layout_.has("reduction_lanes")) {
      lane_ = loop;
      reduce_.pop_back();
      const te::Axis& inner = op_.reduce_axes[reduce_.size() - 1];
      const bool is_short = inner.extent.high <= kShortUnrolled;
      if (is_short && !(inner.name == factored_.axis)) unrolled_ = inner.name;
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
    TileDomain domain = vectors_of(extent, 4);
    if (domain.choices.empty()) return;
    domain.extent = extent;
    writer_.add_split(stage_, along.name, std::move(domain));
    threads_[axis + 1] = along.name.child(0);
    lane_ = along.name.child(1);
  }

  const LayoutContext& layout_;
  DraftWriter& writer_;
  heuristic::AxisRoles roles_;
  const te::Op& op_;
  const FactoredStage& factored_;
  StageName stage_;
  int64_t lanes_;
  std::vector<Name> threads_, reduce_;
  Name lane_, unrolled_;
};

// Threads share the first loop, the first two, and so on.
void add_threads(const LayoutContext& layout, te::OpId op, const FactoredStage& factored,
                 std::span<const Name> loops) {
  const StageName partial{factored.stage.op, StageRole::Rfactor};
  const bool several = layout.target().threads() > 1;
  const bool is_worth =
      heuristic::is_always_threaded(layout.tree, LayoutContext::index_of(op), layout.target()) &&
      !loops.empty();
  std::vector<DraftWriter::Steps> choices;
  if (!is_worth || !several) choices.push_back({});
  for (size_t count = 1; count <= loops.size() && several; ++count) {
    choices.push_back(fuse_parallel(partial, loops.first(count)).steps);
  }
  layout.writer.add_one_of(factored.stage, HoleKind::Parallel, std::move(choices));
}

// The stage that folds the partial results: lanes where a spatial axis is long enough.
void lay_out_fold(const LayoutContext& layout, const te::Op& op) {
  if (op.axes.empty()) return;
  const int64_t lanes = layout.lanes_of(4);
  const te::Axis& last = op.axes.back();
  if (last.extent.high < lanes || last.extent.high > 8 * lanes) return;
  const StageName stage{op.name};
  layout.writer.add_maybe(stage, HoleKind::Vectorize,
                          Annotate{stage, last.name, Annotation::Vectorize});
}

}  // namespace

void lay_out_factored(const LayoutContext& layout, const FactoredStage& factored) {
  const te::OpId op = op_of(layout.space, factored.stage);
  const std::vector<Name> threads = PartialResults(layout, op, factored).run();
  add_threads(layout, op, factored, threads);
  lay_out_fold(layout, layout.op(op));
}

}  // namespace tilewright::space
