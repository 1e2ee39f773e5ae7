// Multi-level tiling. A structure such as SSRSRS names levels from the outside in: S all spatial
// axes, R all reduce axes; each axis is split into as many parts as there are levels of its kind.
// When fused at level L, an elementwise reader (or the copy stage of a cache_write) has the first L
// spatial levels, and the stage itself computes the region that one iteration of them needs:
//
//   SSRS at 2    owner  i.0 j.0 | i.1 j.1 | i.2 j.2        split C i [f1, f2]
//                inner                      k, i, j         attached to j.1
#include "space/rules/tiler.h"
#include "space/draft_writer.h"
#include "space/tile_domain.h"

namespace tilewright::space {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its steps

namespace {

constexpr int64_t kWindow = 7;  // reduce axes up to this extent are not split
constexpr int64_t kJammed = 8;  // longest part of a reduction that is unrolled next to one level

class Tiler {
 public:
  Tiler(const SpaceContext& context, Draft& draft, const LoopTree& tree, StageName inner,
        StageName owner, const TileShape& shape)
      : context_(context),
        draft_(draft),
        writer_(draft.sketch),
        op_(context.dag().op(op_of(context, inner))),
        tree_(tree),
        shape_(shape) {
    tiled_ = {.inner = inner,
              .owner = owner,
              .op = op_of(context, inner),
              .structure = shape.structure,
              .owner_lane = {},
              .inner_lane = {},
              .lane_axis = shape.lane};
    const auto stage = tree_.find_stage({inner.op});
    roles_ = heuristic::axis_roles(tree_, stage, context.target(), context.has("pack"));
    lanes_ = std::max(1, context.target().lanes(roles_.element_bytes));
  }

  void run() {
    read_structure();
    const size_t spatial = op_.axes.size();
    tiled_.lane_reduces = shape_.lane >= static_cast<int>(spatial);
    for (size_t k = 0; k < spatial; ++k) {
      if (static_cast<int>(k) != shape_.lane) cut_spatial(k);
    }
    if (shape_.lane >= 0 && !tiled_.lane_reduces) cut_spatial(static_cast<size_t>(shape_.lane));
    for (size_t k = 0; k < op_.reduce_axes.size(); ++k) cut_reduction(k);
    if (!tiled_.inner_lane.empty() && tiled_.lane_reduces) {
      tiled_.inner_levels.back().push_back(tiled_.inner_lane);
    }
    sort_levels();
    draft_.tiled.push_back(std::move(tiled_));
  }

 private:
  // Assigns the spatial and reduce levels to owner and inner stage.
  void read_structure() {
    const bool fused = tiled_.is_fused();
    const std::string& s = shape_.structure;
    spatial_levels_ = static_cast<size_t>(std::ranges::count(s, 'S'));
    reduce_levels_ = static_cast<size_t>(std::ranges::count(s, 'R'));
    outer_levels_ = fused ? static_cast<size_t>(shape_.level) : s.find('R');
    if (outer_levels_ == std::string::npos) outer_levels_ = 2;
    tiled_.outer.resize(outer_levels_);
    if (fused) tiled_.owner_tile.resize(spatial_levels_ - outer_levels_);
    const bool jams = reduce_levels_ == 1 && context_.has("unroll_and_jam");
    for (size_t k = outer_levels_; k < s.size(); ++k) {
      const bool reduces = s[k] == 'R';
      (reduces ? reduce_at_ : spatial_at_).push_back(tiled_.inner_reduces.size());
      tiled_.inner_reduces.push_back(reduces);
      if (reduces && jams) {
        reduce_at_.push_back(tiled_.inner_reduces.size());
        tiled_.inner_reduces.push_back(true);
      }
    }
    tiled_.inner_levels.resize(tiled_.inner_reduces.size());
  }

  Name owner_axis(size_t k) const {
    const te::OpId owner = op_of(context_, tiled_.owner);
    return context_.dag().op(owner).axes[k].name;
  }

  void cut_spatial(size_t k) {
    const te::Axis& axis = op_.axes[k];
    const bool fused = tiled_.is_fused();
    const bool lane = static_cast<int>(k) == shape_.lane;
    const int64_t extent = axis.extent.high;
    if (extent == 1) {
      tiled_.owner_units.push_back(owner_axis(k));
      if (fused) tiled_.inner_units.push_back(axis.name);
      return;
    }
    std::vector<Name> owner_parts, inner_parts;
    if (axis.hints.no_split_at_inner) {
      owner_parts.assign(spatial_levels_, Name());
      owner_parts.back() = owner_axis(k);
      inner_parts.assign(spatial_levels_ - outer_levels_, Name());
      inner_parts.back() = axis.name;
    } else {
      split_spatial(k, owner_parts, inner_parts);
    }
    place(owner_parts, inner_parts, lane);
  }

  void place(const std::vector<Name>& owner_parts, const std::vector<Name>& inner_parts,
             bool lane) {
    const bool fused = tiled_.is_fused();
    const auto put = [](std::vector<Name>& level, Name loop) {
      if (!loop.empty()) level.push_back(loop);
    };
    for (size_t level = 0; level < spatial_levels_; ++level) {
      if (level < outer_levels_) {
        put(tiled_.outer[level], owner_parts[level]);
        continue;
      }
      const size_t inside = level - outer_levels_;
      if (fused) put(tiled_.owner_tile[inside], owner_parts[level]);
      put(tiled_.inner_levels[spatial_at_[inside]],
          fused ? inner_parts[inside] : owner_parts[level]);
    }
    const bool last_axis = tiled_.lane_reduces;  // then the owner copies along the last one
    if (lane || last_axis) tiled_.owner_lane = owner_parts.back();
    if (lane) tiled_.inner_lane = fused ? inner_parts.back() : owner_parts.back();
  }

  TileConstraints constraints_for(size_t k, int64_t extent) const {
    const bool lane = static_cast<int>(k) == shape_.lane;
    const int64_t registers = context_.target().vector_registers();
    TileConstraints constraints{.extent = extent, .factors = static_cast<int>(spatial_levels_) - 1};
    constraints.tails = context_.has("tails");
    constraints.max_innermost =
        lane ? std::max<int64_t>(64, 4 * lanes_) : std::min<int64_t>(64, registers);
    if (lane) constraints.lanes = lanes_;
    if (lane) constraints.run = roles_.vector == shape_.lane ? roles_.vector_run : 0;
    return constraints;
  }

  void split_spatial(size_t k, std::vector<Name>& owner_parts, std::vector<Name>& inner_parts) {
    const bool fused = tiled_.is_fused();
    const bool lane = static_cast<int>(k) == shape_.lane;
    Name loop = owner_axis(k);
    int64_t extent = op_.axes[k].extent.high;
    const int64_t phases = shape_.phased ? phases_of(k) : 1;
    if (phases > 1) {
      writer_.add(Split{tiled_.owner, loop, {phases}});
      tiled_.phases.push_back(loop.child(1));
      loop = loop.child(0);
      extent /= phases;
    }
    TileConstraints constraints = constraints_for(k, extent);
    if (phases > 1) constraints.tails = false;
    TileDomain domain = tile_domain(constraints);
    const int16_t step = writer_.add(Split{tiled_.owner, loop, domain.choices[0]});
    const auto factors = static_cast<uint8_t>(spatial_levels_ - 1);
    for (unsigned level = 0; level < spatial_levels_; ++level) {
      owner_parts.push_back(loop.child(level));
    }
    const auto own = static_cast<uint8_t>(factors - outer_levels_);
    const Name axis = op_.axes[k].name;
    if (fused && own > 0) {
      const int16_t inner = writer_.add(Split{tiled_.inner, axis, {1}});
      domain.slices = {{step, 0, factors, false},
                       {inner, static_cast<uint8_t>(outer_levels_), own, false}};
      for (unsigned level = 0; level <= own; ++level) inner_parts.push_back(axis.child(level));
    } else if (fused) {
      inner_parts.push_back(axis);
    }
    const bool ragged = leaves_remainder(domain);
    writer_.add_hole({step, tiled_.inner, std::move(domain), HoleKind::Tile});
    if (ragged) add_tail(step, lane);
  }

  void add_tail(int16_t step, bool lane) {
    TailDomain tail{.choices = {Tail::Peel}, .steps = {step}};
    if (lane && !tiled_.lane_reduces) tail.choices.push_back(Tail::Mask);
    if (tiled_.is_fused()) tail.choices.push_back(Tail::Overlap);
    if (tail.choices.size() > 1) {
      writer_.add_hole({step, tiled_.inner, std::move(tail), HoleKind::Tail});
    }
  }

  // The number of phases of a spatial axis: the divisor of a quotient of it, if that divides.
  int64_t phases_of(size_t k) const {
    int64_t phases = 1;
    const Stage& stage = tree_.stage(tree_.find_stage({op_.name}));
    for (const Access& access : tree_.reads_of(stage)) {
      for (size_t d = access.first_dim; d < access.first_dim + size_t{access.rank}; ++d) {
        for (const arith::Term& term : tree_.dims[d].index.terms) {
          if (term.var < te::kFirstQuotient) continue;
          const te::Quotient& quotient = tree_.quotients[term.var - te::kFirstQuotient];
          if (quotient.of.coefficient_of(static_cast<uint32_t>(k)) != 0) {
            phases = std::max(phases, quotient.divisor);
          }
        }
      }
    }
    const int64_t extent = op_.axes[k].extent.high;
    return phases <= 8 && extent % phases == 0 && extent > phases ? phases : 1;
  }

  static bool divides_well(int64_t extent) {
    int divisors = 0;
    for (const int64_t size : {2, 3, 4, 5, 6, 7, 8, 16}) divisors += extent % size == 0 ? 1 : 0;
    return divisors >= 2;
  }

  void cut_reduction(size_t k) {
    const te::Axis& axis = op_.reduce_axes[k];
    const int64_t extent = axis.extent.high;
    const bool lane = shape_.lane == static_cast<int>(op_.axes.size() + k);
    if (extent == 1 && !lane) {
      (tiled_.is_fused() ? tiled_.inner_units : tiled_.owner_units).push_back(axis.name);
      return;
    }
    const bool unrolls = axis.hints.always_unroll_inner;
    const bool window =
        (extent <= kWindow && context_.has("tile_structures")) || (extent <= kJammed && unrolls);
    if (window && !lane) {
      tiled_.inner_levels[reduce_at_[0]].push_back(axis.name);
      tiled_.windows.push_back(axis.name);
      return;
    }
    const bool jams = reduce_levels_ < reduce_at_.size();
    const bool last = k + 1 == op_.reduce_axes.size();
    size_t parts = jams ? ((last || unrolls) && extent > kJammed ? 2 : 1) : reduce_levels_;
    if (lane) parts = reduce_levels_ + 1;
    if (axis.hints.no_split_at_inner && lane) {
      tiled_.inner_lane = axis.name;
      return;
    }
    if (axis.hints.no_split_at_inner || parts == 1) {
      const size_t level = jams ? 0 : reduce_levels_ - 1;
      tiled_.inner_levels[reduce_at_[level]].push_back(axis.name);
      return;
    }
    TileConstraints constraints{.extent = extent, .factors = static_cast<int>(parts) - 1};
    constraints.tails = context_.has("tails");
    constraints.max_innermost = lane ? std::max<int64_t>(64, 4 * lanes_) : jams ? kJammed : 64;
    if (lane) constraints.lanes = lanes_;
    // The remainder of a reduction is separate code in the innermost loop: only if few sizes
    // divide.
    if (!lane && constraints.tails) constraints.tails = extent > 64 && !divides_well(extent);
    writer_.add_split(tiled_.inner, axis.name, tile_domain(constraints));
    for (unsigned part = 0; part + (lane ? 1 : 0) < parts; ++part) {
      tiled_.inner_levels[reduce_at_[part]].push_back(axis.name.child(part));
    }
    if (lane) tiled_.inner_lane = axis.name.child(static_cast<unsigned>(parts) - 1);
  }

  // Axes are in operator order in all levels except the innermost, where the lanes are last.
  void sort_levels() {
    const auto sort = [&](TiledStage::Levels& levels, const std::vector<bool>* reduces,
                          StageName stage) {
      for (size_t k = 0; k + 1 < levels.size(); ++k) {
        if (reduces == nullptr || !(*reduces)[k]) sort_level(levels[k], stage);
      }
    };
    sort(tiled_.outer, nullptr, tiled_.owner);
    for (std::vector<Name>& level : tiled_.outer) sort_level(level, tiled_.owner);
    sort(tiled_.owner_tile, nullptr, tiled_.owner);
    sort(tiled_.inner_levels, &tiled_.inner_reduces, tiled_.inner);
  }

  // The lane axis was split last: its loop moves to the position of its axis.
  void sort_level(std::vector<Name>& level, StageName stage) const {
    const te::Op& op = context_.dag().op(op_of(context_, stage));
    const auto position = [&](Name loop) {
      for (size_t k = 0; k < op.axes.size(); ++k) {
        const std::string& axis = op.axes[k].name.text();
        const std::string& text = loop.text();
        if (text == axis || text.starts_with(axis + ".")) return k;
      }
      return op.axes.size();
    };
    std::ranges::sort(level, {}, position);  // one loop per axis: no ties
  }

  const SpaceContext& context_;
  Draft& draft_;
  DraftWriter writer_;
  const te::Op& op_;
  const LoopTree& tree_;
  const TileShape& shape_;
  heuristic::AxisRoles roles_;
  int64_t lanes_ = 1;
  size_t spatial_levels_ = 0, reduce_levels_ = 0, outer_levels_ = 0;
  std::vector<size_t> spatial_at_, reduce_at_;  // indices in inner_levels
  TiledStage tiled_;
};

}  // namespace

void tile_stage(const SpaceContext& context, Draft& draft, const LoopTree& tree, StageName inner,
                StageName owner, const TileShape& shape) {
  Tiler(context, draft, tree, inner, owner, shape).run();
}

}  // namespace tilewright::space
