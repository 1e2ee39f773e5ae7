#include "space/plain_layout.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/rounding.h"
#include "heuristic/tile_sizes.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps
using heuristic::powers_of_two;

namespace {

constexpr int64_t kUnrolledWindow = 64;
constexpr int64_t kTileVectors = 2;  // of a tile of a transform, whose code is large

const te::AxisHints& hints_of(const te::Op& op, size_t axis) {
  return axis < op.axes.size() ? op.axes[axis].hints : op.reduce_axes[axis - op.axes.size()].hints;
}

// Lays out the loops of one stage.
class PlainLayout {
 public:
  PlainLayout(const LayoutContext& layout, te::OpId op, int lead, RowBlocks blocks,
              std::span<const int64_t> sides)
      : layout_(layout),
        writer_(layout.writer),
        tree_(layout.tree),
        stage_(layout.tree.stage(LayoutContext::index_of(op))),
        op_(layout.op(op)),
        sides_(sides),
        lead_count_(lead),
        blocks_(blocks == RowBlocks::Shared),
        chunks_(blocks == RowBlocks::Chunks),
        roles_(layout.roles_of(op, false)),
        lanes_(layout.lanes_of(roles_.element_bytes)) {}

  PlainLoops run() {
    for (size_t axis = 0; axis < stage_.axes.size(); ++axis) lay_out_axis(axis);
    std::vector<Name> order = units_;
    for (const PlannedLoop& loop : loops_.lead) order.push_back(loop.name);
    if (!loops_.block.empty()) order.push_back(loops_.block);
    if (!loops_.row.empty()) order.push_back(loops_.row);
    for (const PlannedLoop& loop : loops_.outer) order.push_back(loop.name);
    for (const auto* part : {&reduce_, &rows_, &folded_, &constant_}) {
      order.insert(order.end(), part->begin(), part->end());
    }
    if (!loops_.lane.empty()) order.push_back(loops_.lane);
    writer_.reorder(stage_.name, order);
    if (!loops_.lane.empty()) {
      writer_.annotate(stage_.name, loops_.lane, Annotation::Vectorize);
    }
    for (const Name loop : rows_) writer_.annotate(stage_.name, loop, Annotation::Unroll);
    unroll_window();
    unroll_constants();
    return std::move(loops_);
  }

 private:
  void lay_out_axis(size_t axis) {
    const LoopVar& var = tree_.var(stage_.axes[axis]);
    const bool reduces = var.kind == IterKind::Reduce;
    const auto is = [&](int role) { return role == static_cast<int>(axis); };
    const te::AxisHints& hints = hints_of(op_, axis);
    if (static_cast<int>(axis) < lead_count_) return lay_out_lead(axis, var);
    if (axis < sides_.size() && sides_[axis] != 0) return lay_out_tile(var, sides_[axis]);
    if (hints.simplify_const_index && !is(roles_.vector)) {
      (reduces ? folded_ : constant_).push_back(var.name);
    } else if (is(roles_.vector)) {
      lay_out_lanes(var, reduces, hints.no_split_at_inner);
    } else if (var.extent == 1) {
      (reduces ? reduce_ : units_).push_back(var.name);
    } else if (hints.no_split_at_inner || !cut(axis, var)) {
      lay_out_whole(var, reduces);
    }
  }

  // Tiles of a fixed size, their elements unrolled.
  void lay_out_tile(const LoopVar& var, int64_t side) {
    if (var.extent <= side) {
      rows_.push_back(var.name);
      return;
    }
    writer_.add(Split{stage_.name, var.name, {side}, Tail::Peel});
    loops_.outer.push_back({var.name.child(0), ceil_div(var.extent, side)});
    rows_.push_back(var.name.child(1));
  }

  // Lays out parts of an axis, if they are useful.
  bool cut(size_t axis, const LoopVar& var) {
    const bool reduces = var.kind == IterKind::Reduce;
    const auto is = [&](int role) { return role == static_cast<int>(axis); };
    if (is(roles_.across)) {
      lay_out_rows(var, sizes_below(var.extent, powers_of_two(64).subspan(1)));
    } else if (is(roles_.rows) && !roles_.vector_reduces && op_.has_reduction()) {
      lay_out_rows(var, sizes_below(var.extent, powers_of_two(8)));
    } else if (reduces && var.extent > kUnrolledWindow && !roles_.vector_reduces &&
               layout_.has("unroll_and_jam")) {  // some terms at a time
      writer_.add_split(stage_.name, var.name, sizes_below(var.extent, powers_of_two(16)));
      reduce_.push_back(var.name.child(0));
      rows_.insert(rows_.begin(), var.name.child(1));
      window_ *= var.extent;
    } else if (!reduces && is_scalar_fold() && axis + 1 == op_.axes.size()) {
      lay_out_rows(var, sizes_below(var.extent, heuristic::block_sizes(16)));
    } else if (!reduces && chunks_ && loops_.outer.empty() && var.extent >= 8) {
      lay_out_chunks(var);
    } else {
      return false;
    }
    return true;
  }

  // Keeps the axis as one loop.
  void lay_out_whole(const LoopVar& var, bool reduces) {
    if (reduces) {
      reduce_.push_back(var.name);
      window_ *= var.extent;
    } else {
      loops_.outer.push_back({var.name, var.extent});
    }
  }

  // True if an axis may be split into parts of this size: without tails, it must divide.
  bool may_cut(int64_t extent, int64_t size) const {
    return heuristic::may_tile(extent, size, layout_.has("tails"), 0);
  }

  TileDomain sizes_below(int64_t extent, std::span<const int64_t> sizes) const {
    TileDomain domain{.choices = {}, .extent = extent};
    for (const int64_t size : sizes) {
      if (size < extent && may_cut(extent, size)) domain.choices.push_back({size});
    }
    return domain;
  }

  // A reduction without lanes: several adjacent elements are computed at a time.
  bool is_scalar_fold() const { return op_.has_reduction() && !roles_.has_vector(); }

  void lay_out_chunks(const LoopVar& var) {
    TileDomain domain{.choices = {}, .extent = var.extent};
    for (const int64_t size : powers_of_two(var.extent / 4)) {
      if (may_cut(var.extent, size)) domain.choices.push_back({size});
    }
    writer_.add_split(stage_.name, var.name, std::move(domain));
    loops_.outer.push_back({var.name.child(0), ceil_div(var.extent, 4)});
    loops_.outer.push_back({var.name.child(1), 4});
  }

  // Leading axes, the last of them in blocks of rows.
  void lay_out_lead(size_t axis, const LoopVar& var) {
    const bool whole = hints_of(op_, axis).no_split_at_inner && !blocks_;
    if (static_cast<int>(axis) + 1 < lead_count_ || var.extent < 4 || whole) {
      loops_.lead.push_back({var.name, var.extent});
      return;
    }
    if (blocks_) {  // the stage that computes the blocks chooses their sizes
      loops_.row_step = writer_.add(Split{stage_.name, var.name, {1, 1}});
      loops_.lead.push_back({var.name.child(0), var.extent});
      loops_.block = var.name.child(1);
      loops_.row = var.name.child(2);
      return;
    }
    TileDomain domain{.choices = {}, .extent = var.extent};
    for (const int64_t rows : heuristic::block_sizes(std::min<int64_t>(64, var.extent - 1))) {
      if (heuristic::may_tile(var.extent, rows, layout_.has("tails"))) {
        domain.choices.push_back({rows});
      }
    }
    writer_.add_split(stage_.name, var.name, std::move(domain));
    loops_.lead.push_back({var.name.child(0), ceil_div(var.extent, 4)});
    loops_.row = var.name.child(1);
  }

  // Possible extents of the vectorized part of an axis; ascending.
  std::vector<int64_t> lane_sizes(int64_t extent) const {
    std::vector<int64_t> sizes;
    const int64_t max_vectors = sides_.empty() ? 8 : kTileVectors;
    for (const int64_t vectors : powers_of_two(max_vectors)) {
      const int64_t size = vectors * lanes_;
      if (size < extent && may_cut(extent, size)) sizes.push_back(size);
    }
    const bool eight = roles_.across != heuristic::kNoAxis && lanes_ < 8 && may_cut(extent, 8);
    if (eight && std::ranges::find(sizes, 8) == sizes.end()) sizes.push_back(8);
    if (extent <= max_vectors * lanes_) sizes.push_back(extent);
    if (sizes.empty()) {  // no number of vectors divides
      for (const int64_t size : heuristic::divisors_of(extent)) {
        if (size > 1 && size <= 8 * lanes_) sizes.push_back(size);
      }
    }
    std::ranges::sort(sizes);
    return sizes;
  }

  void lay_out_lanes(const LoopVar& var, bool reduces, bool whole) {
    const auto outside = [&](Name loop, int64_t extent) {
      if (reduces) {
        reduce_.push_back(loop);
        window_ = kUnrolledWindow + 1;
      } else {
        loops_.outer.push_back({loop, extent});
      }
    };
    const std::vector<int64_t> sizes = lane_sizes(var.extent);
    if (var.extent <= (whole ? 8 : 1) * lanes_) {
      loops_.lane = var.name;
      return;
    }
    if (whole || sizes.empty()) {
      outside(var.name, var.extent);
      return;
    }
    TileDomain domain{.choices = {}, .extent = var.extent};
    for (const int64_t size : sizes) domain.choices.push_back({size});
    const bool alone = !reduces && spatial_loops() == 1 && var.extent >= 256 * lanes_;
    if (alone) {  // blocks for threads
      std::vector<Factors> blocks;
      for (const int64_t block : {1, 4, 16, 64, 256, 1024}) {
        for (const Factors& f : domain.choices) {
          const int64_t size = block * f[0];
          if (size <= var.extent && may_cut(var.extent, size)) blocks.push_back({block, f[0]});
        }
      }
      domain.choices = std::move(blocks);
    }
    writer_.add_split(stage_.name, var.name, std::move(domain));
    outside(var.name.child(0), ceil_div(var.extent, lanes_));
    if (alone) outside(var.name.child(1), 1);
    loops_.lane = var.name.child(alone ? 2 : 1);
  }

  int spatial_loops() const {
    int count = 0;
    for (const VarIndex axis : stage_.axes) {
      const LoopVar& var = tree_.var(axis);
      if (var.kind == IterKind::Spatial && var.extent > 1) ++count;
    }
    return count;
  }

  void lay_out_rows(const LoopVar& var, TileDomain domain) {
    if (domain.choices.empty()) {
      loops_.outer.push_back({var.name, var.extent});
      return;
    }
    writer_.add_split(stage_.name, var.name, std::move(domain));
    loops_.outer.push_back({var.name.child(0), ceil_div(var.extent, 8)});
    rows_.push_back(var.name.child(1));
  }

  // Windows of a few elements may be unrolled.
  void unroll_window() {
    if (reduce_.empty() || window_ > kUnrolledWindow || window_ == 1) return;
    std::vector<Steps> choices = {{}};
    choices.push_back({Annotate{stage_.name, reduce_.back(), Annotation::Unroll}});
    if (reduce_.size() > 1) {
      Steps all;
      for (const Name loop : reduce_) {
        all.emplace_back(Annotate{stage_.name, loop, Annotation::Unroll});
      }
      choices.push_back(std::move(all));
    }
    writer_.add_one_of(stage_.name, HoleKind::Unroll, std::move(choices));
  }

  void unroll_constants() {
    if (folded_.empty() && constant_.empty()) return;
    Steps folded;
    for (const Name loop : folded_) {
      folded.emplace_back(Annotate{stage_.name, loop, Annotation::Unroll});
    }
    Steps all = folded;
    for (const Name loop : constant_) {
      all.emplace_back(Annotate{stage_.name, loop, Annotation::Unroll});
    }
    std::vector<Steps> choices = {all};
    if (!folded.empty() && !constant_.empty()) choices.push_back(folded);
    if (!layout_.has("locations")) choices.resize(1);
    choices.push_back({});
    writer_.add_one_of(stage_.name, HoleKind::Unroll, std::move(choices));
  }

  using Steps = DraftWriter::Steps;
  const LayoutContext& layout_;
  DraftWriter& writer_;
  const LoopTree& tree_;
  const Stage& stage_;
  const te::Op& op_;
  std::span<const int64_t> sides_;
  int lead_count_;
  bool blocks_;
  bool chunks_;  // split the first loop into chunks for threads
  heuristic::AxisRoles roles_;
  int64_t lanes_;
  int64_t window_ = 1;  // iterations of the reductions that are not lanes
  std::vector<Name> units_, reduce_, rows_, folded_, constant_;
  PlainLoops loops_;
};

}  // namespace

PlainLoops lay_out_plain(const LayoutContext& layout, te::OpId op, int lead, RowBlocks blocks,
                         std::span<const int64_t> sides) {
  return PlainLayout(layout, op, lead, blocks, sides).run();
}

}  // namespace tilewright::space
