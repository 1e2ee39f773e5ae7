#include "space/operand_holes.h"

#include <optional>
#include <span>
#include <utility>

#include "schedule/tree_editor.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

// The dimensions of an access that are one axis each; empty if some dimension is not.
std::optional<std::vector<int>> axes_of(const LoopTree& tree, const Access& access) {
  std::vector<int> axes;
  for (size_t d = access.first_dim; d < access.first_dim + size_t{access.rank}; ++d) {
    const AccessDim& dim = tree.dims[d];
    if (!dim.affine || dim.index.constant != 0 || dim.index.terms.size() > 1) return std::nullopt;
    if (dim.index.terms.empty()) {
      axes.push_back(heuristic::kNoAxis);
      continue;
    }
    if (dim.index.terms[0].coefficient != 1) return std::nullopt;
    const int axis = static_cast<int>(dim.index.terms[0].var);
    if (std::ranges::find(axes, axis) != axes.end()) return std::nullopt;
    axes.push_back(axis);
  }
  return axes;
}

class OperandHoles {
 public:
  OperandHoles(const LayoutContext& layout, const TiledStage& tiled, Name threads)
      : layout_(layout),
        writer_(layout.writer),
        tree_(layout.tree),
        tiled_(tiled),
        threads_(threads),
        stage_(tree_.stage(LayoutContext::index_of(tiled.op))),
        op_(layout.op(tiled.op)) {}

  void run() {
    std::vector<BufferIndex> done;
    for (const Access& access : tree_.reads_of(stage_)) {
      if (std::ranges::find(done, access.buffer) != done.end()) continue;
      done.push_back(access.buffer);
      const auto same = std::ranges::count(tree_.reads_of(stage_), access.buffer, &Access::buffer);
      if (same == 1) add_operand(access);
    }
  }

 private:
  using Steps = DraftWriter::Steps;

  void add_operand(const Access& access) {
    const Buffer& buffer = tree_.buffer(access.buffer);
    const StageName source = tree_.stage(buffer.stage).name;
    const bool constant = buffer.is_constant;
    const auto axes = axes_of(tree_, access);
    lanes_ = layout_.lanes_of(std::max(4, ir::bytes_of(buffer.element)));
    std::vector<Steps> choices = {{}};
    HoleKind kind = HoleKind::Pack;
    if (constant && layout_.has("pack") && has_one_axis(access)) {
      choices.push_back({Pack{source, tiled_.inner}});
    }
    if (axes && layout_.has("register_read") && fits_registers(access)) {
      add_register_reads(source, buffer, choices);
      kind = HoleKind::RegisterRead;
    } else if (axes && !constant && layout_.has("pack") && is_reused(access)) {
      add_copies(source, buffer, *axes, choices);
    }
    const bool only_packs = kind == HoleKind::Pack && constant;
    if (choices.size() > 1) writer_.add_one_of(tiled_.inner, kind, std::move(choices));
    if (only_packs && layout_.has("prefetch")) add_prefetch(source);
  }

  // A constant is packed by the dimensions that are one axis each.
  bool has_one_axis(const Access& access) const {
    const auto dims = std::span(tree_.dims).subspan(access.first_dim, access.rank);
    return std::ranges::any_of(
        dims, [](const AccessDim& dim) { return is_one_axis(dim) && !dim.index.terms.empty(); });
  }

  // True if spatial axes that it does not depend on reuse it.
  bool is_reused(const Access& access) const {
    double uses = 1;
    for (size_t axis = 0; axis < op_.axes.size(); ++axis) {
      if (!heuristic::access_stride(tree_, access, axis).depends) {
        uses *= static_cast<double>(op_.axes[axis].extent.high);
      }
    }
    const bool lanes =
        tiled_.lane_axis >= 0 &&
        heuristic::access_stride(tree_, access, static_cast<size_t>(tiled_.lane_axis)).depends;
    return uses >= 8 && lanes;
  }

  // True if the operand has few vectors per tile, over the whole reduction.
  bool fits_registers(const Access& access) const {
    if (tiled_.lane_axis < 0 || tiled_.lane_reduces) return false;
    int64_t elements = 1;
    bool lanes = false;
    for (size_t axis = 0; axis < stage_.axes.size(); ++axis) {
      if (!heuristic::access_stride(tree_, access, axis).depends) continue;
      if (static_cast<int>(axis) == tiled_.lane_axis) {
        lanes = true;
      } else {
        elements *= tree_.var(stage_.axes[axis]).extent;
      }
    }
    return lanes && elements <= 32;
  }

  Name dim_name(const Buffer& buffer, size_t d) const {
    const te::Op& op = layout_.op(tree_.stage(buffer.stage).op);
    return d < op.axes.size() ? op.axes[d].name : Name("d" + std::to_string(d));
  }

  // Loops of the owner at which a copy may be attached, outermost first.
  std::vector<Name> places() const {
    std::vector<Name> loops;
    if (!threads_.empty()) loops.push_back(threads_);
    if (tiled_.outer.size() > 1) {
      loops.insert(loops.end(), tiled_.outer[1].begin(), tiled_.outer[1].end());
    }
    return loops;
  }

  void add_register_reads(StageName source, const Buffer& buffer,
                          std::vector<Steps>& choices) const {
    const StageName copy{source.op, StageRole::Read};
    for (const Name loop : places()) {
      Steps steps = {CacheRead{source, {tiled_.inner}}, ComputeAt{copy, tiled_.owner, loop}};
      for (size_t d = 0; d < buffer.rank; ++d) {
        const bool last = d + 1 == buffer.rank;
        steps.emplace_back(
            Annotate{copy, dim_name(buffer, d), last ? Annotation::Vectorize : Annotation::Unroll});
      }
      choices.push_back(std::move(steps));
    }
  }

  // The loops of the copy: lanes along its last dimension, and blocks of the dimension of the
  // reader's lanes. If these are two dimensions, a block and the lanes form squares, which are
  // transposed in registers (lower/transpose_copies.h).
  Steps copy_loops(StageName copy, const Buffer& buffer, const std::vector<int>& axes,
                   bool blocked) const {
    const size_t last = buffer.rank - size_t{1};
    Steps steps;
    if (buffer.extent[last] < lanes_) return steps;
    const Name lane = dim_name(buffer, last);
    steps.emplace_back(Split{copy, lane, {2 * lanes_}});
    const auto found = std::ranges::find(axes, tiled_.lane_axis);
    const auto dim = static_cast<size_t>(found - axes.begin());
    if (blocked && found != axes.end()) {
      std::vector<Name> order;
      if (dim == last) {
        order.push_back(lane.child(0));
        for (size_t d = 0; d < last; ++d) order.push_back(dim_name(buffer, d));
      } else {
        const Name block = dim_name(buffer, dim);
        steps.emplace_back(Split{copy, block, {lanes_}});
        order.push_back(block.child(0));
        for (size_t d = 0; d < last; ++d) {
          if (d != dim) order.push_back(dim_name(buffer, d));
        }
        order.push_back(lane.child(0));
        order.push_back(block.child(1));
      }
      order.push_back(lane.child(1));
      steps.push_back(reorder_step(copy, order));
    }
    steps.emplace_back(Annotate{copy, lane.child(1), Annotation::Vectorize});
    return steps;
  }

  void add_copies(StageName source, const Buffer& buffer, const std::vector<int>& axes,
                  std::vector<Steps>& choices) const {
    const StageName copy{source.op, StageRole::Read};
    const CacheRead read{source, {tiled_.inner}};
    for (const bool blocked : {false, true}) {
      const Steps loops = copy_loops(copy, buffer, axes, blocked);
      for (const Name place : places()) {
        Steps steps = {read, ComputeAt{copy, tiled_.owner, place}, Pack{copy, tiled_.inner}};
        for (const Step& step : loops) steps.push_back(step);
        choices.push_back(std::move(steps));
      }
      Steps root = {read, Pack{copy, tiled_.inner}};
      for (const Step& step : loops) root.push_back(step);
      if (!blocked && buffer.rank > 1 && layout_.target().threads() > 1) {
        root.emplace_back(Annotate{copy, dim_name(buffer, 0), Annotation::Parallel});
      }
      choices.push_back(std::move(root));
    }
  }

  void add_prefetch(StageName source) {
    Name loop;  // the last loop of the first reduce level
    for (size_t k = 0; k < tiled_.inner_levels.size() && loop.empty(); ++k) {
      if (tiled_.inner_reduces[k] && !tiled_.inner_levels[k].empty()) {
        loop = tiled_.inner_levels[k].back();
      }
    }
    if (loop.empty()) return;
    std::vector<Steps> choices = {{}};
    for (const int64_t distance : {2, 4, 8}) {
      choices.push_back({Prefetch{tiled_.inner, loop, source, distance}});
    }
    choices.push_back({PrefetchNext{tiled_.inner, loop, source}});
    writer_.add_one_of(tiled_.inner, HoleKind::Prefetch, std::move(choices));
  }

  const LayoutContext& layout_;
  DraftWriter& writer_;
  const LoopTree& tree_;
  const TiledStage& tiled_;
  Name threads_;
  const Stage& stage_;
  const te::Op& op_;
  int64_t lanes_ = 1;
};

}  // namespace

void add_operand_holes(const LayoutContext& layout, const TiledStage& tiled, Name threads) {
  OperandHoles(layout, tiled, threads).run();
}

}  // namespace tilewright::space
