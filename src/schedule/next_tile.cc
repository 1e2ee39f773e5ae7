#include "schedule/next_tile.h"

#include <algorithm>
#include <array>

#include "schedule/region.h"

namespace tilewright::schedule {
namespace {

class NextTileFinder {
 public:
  NextTileFinder(const LoopTree& tree, const Access& access) : tree_(tree), access_(access) {}

  std::optional<NextTile> run(const PrefetchRequest& request) {
    StageIndex stage = request.stage;
    VarIndex loop = request.loop;
    inner_.push_back(loop);  // innermost first
    bool is_inside = tree_.var(loop).kind == IterKind::Reduce;
    while (move_outwards(&stage, &loop)) {
      is_inside = is_inside && stage == request.stage && tree_.var(loop).kind == IterKind::Reduce;
      if (is_inside) {
        inner_.push_back(loop);
        continue;
      }
      RegionDim* const dims = dims_.data();
      region_of(tree_, access_, stage, loop, dims);
      if (std::any_of(dims, dims + access_.rank, [](const RegionDim& dim) { return dim.whole; })) {
        return std::nullopt;
      }
      const VarIndex selector = find_selector(loop);
      if (selector != kNone) return tile(stage, loop, selector);
      if (is_full_) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  // To the next loop outwards, in the stage or in the one that it is attached to.
  bool move_outwards(StageIndex* stage, VarIndex* loop) const {
    const Stage& now = tree_.stage(*stage);
    if (const int16_t position = tree_.var(*loop).position; position > 0) {
      *loop = now.loops[static_cast<size_t>(position) - 1];
      return true;
    }
    if (now.place != Attachment::At) return false;
    *loop = now.at_loop;
    *stage = now.at_stage;
    return true;
  }

  // The innermost variable of the loop on which the elements depend, or kNone. The others become
  // inner variables.
  VarIndex find_selector(VarIndex index) {
    const LoopVar& var = tree_.var(index);
    if (var.first_member != kNone) {
      InlineVector<VarIndex, kMaxLoops> members;  // outermost first
      for (VarIndex k = var.first_member; k != kNone; k = tree_.var(k).next_member) {
        members.push_back(k);
      }
      for (size_t k = members.size(); k-- > 0;) {
        if (const VarIndex found = find_selector(members[k]); found != kNone) return found;
      }
      return kNone;
    }
    const auto selects = [&](const RegionDim& dim) {
      return dim.base.coefficient_of(static_cast<uint32_t>(index)) != 0;
    };
    if (std::any_of(dims_.begin(), dims_.begin() + access_.rank, selects)) return index;
    is_full_ = is_full_ || inner_.full();
    if (var.extent > 1 && !is_full_) inner_.push_back(index);
    return kNone;
  }

  NextTile tile(StageIndex stage, VarIndex loop, VarIndex selector) const {
    NextTile found{.stage = stage, .loop = loop, .selector = selector};
    for (size_t k = inner_.size(); k-- > 0;) found.inner.push_back(inner_[k]);
    return found;
  }

  const LoopTree& tree_;
  const Access& access_;
  std::array<RegionDim, kMaxRank> dims_{};
  InlineVector<VarIndex, 2 * kMaxLoops> inner_;
  bool is_full_ = false;
};

}  // namespace

int64_t NextTile::iterations(const LoopTree& tree) const {
  int64_t product = 1;
  for (const VarIndex var : inner) product *= tree.var(var).extent;
  return product;
}

std::optional<NextTile> next_tile(const LoopTree& tree, const PrefetchRequest& request,
                                  const Access& access) {
  return NextTileFinder(tree, access).run(request);
}

}  // namespace tilewright::schedule
