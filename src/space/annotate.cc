#include "space/annotate.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "heuristic/chain_plan.h"
#include "heuristic/nest_plan.h"
#include "heuristic/thread_loops.h"
#include "space/chain_layout.h"
#include "space/factored_layout.h"
#include "space/nest_placer.h"
#include "space/operand_holes.h"
#include "space/plain_layout.h"
#include "space/row_layout.h"
#include "space/thread_variants.h"
#include "space/tiled_layout.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

constexpr int64_t kStreamedBytes = int64_t{4} << 20;  // smaller results stay in the caches

// Takes the operators from the last to the first, each to the layout that the rules chose.
class Annotator {
 public:
  Annotator(const SpaceContext& context, Draft draft)
      : draft_(std::move(draft)),
        writer_(draft_.sketch),
        tree_(inlined_tree(context, draft_)),
        plan_(heuristic::plan_nests(tree_, 2)),
        layout_{.space = context, .tree = tree_, .writer = writer_},
        placer_(layout_, draft_) {}

  Sketch run() {
    for (te::OpId op = static_cast<te::OpId>(layout_.space.dag().ops().size()); op-- > 0;) {
      annotate_operator(op);
    }
    std::string& name = draft_.sketch.name;
    if (name.ends_with(", ")) name.resize(name.size() - 2);
    if (name.empty()) name = "plain";
    return std::move(draft_.sketch);
  }

 private:
  void annotate_operator(te::OpId op) {
    const StageName stage{layout_.op(op).name};
    if (!draft_.chained.empty() && draft_.chained[0] == stage) return annotate_chain(op);
    for (const TiledStage& tiled : draft_.tiled) {
      if (tiled.owner.op == stage.op) return annotate_tiled(tiled);
    }
    for (const FactoredStage& factored : draft_.factored) {
      if (factored.stage == stage) return annotate_factored(factored);
    }
    const bool unrolled = Draft::contains(draft_.unrolled, stage);
    if ((is_open(layout_.space, draft_, op) || unrolled) && !placer_.is_placed(op)) {
      annotate_root(op);
    }
  }

  void annotate_chain(te::OpId root) {
    const StageIndex index = LayoutContext::index_of(root);
    const auto pair = plan_.pairs.find(index);
    CHECK(pair != plan_.pairs.end(), "{} is no chain", layout_.op(root).name.text());
    const auto chain = heuristic::find_chain(tree_, index, pair->second);
    CHECK(chain.has_value(), "{} is no chain", layout_.op(root).name.text());
    lay_out_chain(layout_, *chain);
  }

  void annotate_tiled(const TiledStage& tiled) {
    const Name threads = lay_out_tiled(layout_, tiled);
    ThreadVariant only;
    if (!threads.empty()) only.loops.push_back(threads);
    if (tiled.outer.size() > 1) {
      only.loops.insert(only.loops.end(), tiled.outer[1].begin(), tiled.outer[1].end());
    }
    placer_.place({.root = tiled.owner,
                   .variants = {std::move(only)},
                   .inside = {tiled.op, op_of(layout_.space, tiled.owner)}});
    add_operand_holes(layout_, tiled, threads);
  }

  void annotate_factored(const FactoredStage& factored) {
    lay_out_factored(layout_, factored);
    placer_.place({.root = factored.stage,
                   .variants = {{}},
                   .inside = {op_of(layout_.space, factored.stage)}});
  }

  // A stage at root with the stages computed inside it.
  void annotate_root(te::OpId op) {
    const StageName stage{layout_.op(op).name};
    const StageIndex index = LayoutContext::index_of(op);
    const auto group = plan_.groups.find(index);
    const int lead = group == plan_.groups.end() ? 0 : group->second.lead;
    const RowStage* rowed = draft_.rows_in(stage);
    const RowBlocks blocks = rowed != nullptr ? RowBlocks::Shared
                             : lead == 0      ? RowBlocks::Chunks
                                              : RowBlocks::Own;
    const TransformTiles* tiles = draft_.tiles_in(stage);
    const PlainLoops loops = lay_out_plain(
        layout_, op, lead, blocks, tiles == nullptr ? std::span<const int64_t>{} : tiles->sides);
    add_streaming(op, loops.lane);
    const bool is_worth = heuristic::is_always_threaded(tree_, index, layout_.target());
    Nest nest{.root = stage,
              .variants = thread_variants(layout_.target(), stage, loops, is_worth),
              .inside = {op}};
    const auto example = std::ranges::find_if(
        nest.variants, [](const ThreadVariant& variant) { return !variant.steps.empty(); });
    if (example != nest.variants.end()) nest.site = writer_.add_site(Step(example->steps[0]));
    if (rowed == nullptr) return placer_.place(std::move(nest));
    const TiledStage tiled = lay_out_rows(layout_, *rowed, loops);
    nest.inside.insert(tiled.op);
    nest.blocked.insert(tiled.op);
    const Name threads = nest.variants.back().loops[0];
    placer_.place(std::move(nest));
    add_operand_holes(layout_, tiled, threads);
  }

  // Large results may go past the caches.
  void add_streaming(te::OpId op, Name lane) {
    const Buffer& buffer = tree_.buffer(tree_.stage(LayoutContext::index_of(op)).first_buffer);
    int64_t bytes = ir::bytes_of(buffer.element);
    for (const int64_t extent : buffer.extent) bytes *= extent;
    if (layout_.has("stream") && bytes >= kStreamedBytes && buffer.is_argument && !lane.empty() &&
        !layout_.op(op).has_reduction()) {
      const StageName stage{layout_.op(op).name};
      writer_.add_maybe(stage, HoleKind::Other, Annotate{stage, lane, Annotation::Stream});
    }
  }

  Draft draft_;
  DraftWriter writer_;
  LoopTree tree_;  // after inlining
  heuristic::NestPlan plan_;
  LayoutContext layout_;
  NestPlacer placer_;
};

}  // namespace

Sketch annotate(const SpaceContext& context, Draft draft) {
  return Annotator(context, std::move(draft)).run();
}

}  // namespace tilewright::space
