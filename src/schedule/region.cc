#include "schedule/region.h"

#include <algorithm>
#include <array>

#include "ir/fold.h"

namespace tilewright::schedule {
namespace {

void widen(const LoopTree& tree, VarIndex index, PositionRange* range) {
  const LoopVar& var = tree.var(index);
  if (var.fused_into != kNone) return widen(tree, var.fused_into, range);
  if (var.is_split()) {
    for (int k = 0; k < var.parts; ++k) {
      widen(tree, static_cast<VarIndex>(var.first_part + k), range);
    }
    return;
  }
  range->first = std::min(range->first, int{var.position});
  range->last = std::max(range->last, int{var.position});
}

struct Moving {         // one term of an index whose variable is inside
  int64_t coefficient;  // positive
  int64_t count;        // number of its values
};

// Terms of one axis or index; a sum with more terms is treated as a hull.
constexpr size_t kMaxMoving = 16;
using MovingTerms = InlineVector<Moving, kMaxMoving>;

// True if the sum of the terms takes every multiple of the smallest coefficient in its range. By
// ascending coefficient, no step may exceed the range covered by the smaller ones.
bool is_dense(MovingTerms& terms, int64_t* stride) {
  *stride = 1;
  if (terms.empty()) return true;
  std::ranges::sort(terms, {}, &Moving::coefficient);
  const int64_t smallest = terms[0].coefficient;
  int64_t covered = 0;  // range so far, first to last
  for (const Moving& term : terms) {
    if (term.coefficient % smallest != 0) return false;
    if (covered > 0 && term.coefficient > covered + smallest) return false;
    covered += term.coefficient * (term.count - 1);
  }
  *stride = smallest;
  return true;
}

// The point whose outer loops are fixed.
struct Point {
  StageIndex stage = kNone;  // kNone: no loop is fixed
  VarIndex loop = kNone;
};

// The values of an axis or an index while the loops outside a point are fixed: base .. base +
// reach, where base may deviate by `slack` in either direction in a tail.
struct Range {
  arith::Affine base{};
  int64_t reach = 0;
  int64_t slack = 0;
  int64_t stride = 1;
  bool exact = true;    // every stride-th value of the range
  bool ragged = false;  // fewer in some iterations of the outer loops
  bool whole = false;   // any element of the dimension
};

// Adds a variable to a Range; decomposes split variables.
class RangeBuilder {
 public:
  RangeBuilder(const LoopTree& tree, Point point, Range* range)
      : tree_(tree), point_(point), range_(*range) {}

  // False if the variable is only partly fixed (`partly`), or if forms grow too large (kNone).
  bool add(VarIndex index) {
    Movement whole;
    if (!add(index, 1, &whole)) return false;
    range_.reach += whole.reach;
    return true;
  }

  VarIndex partly() const { return partly_; }
  MovingTerms& moving() { return moving_; }

 private:
  struct Movement {
    int64_t reach = 0;   // of the part that moves, in values of the variable
    bool fixed = false;  // a part of it is fixed
  };

  bool add(VarIndex index, int64_t coefficient, Movement* part) {
    const LoopVar& var = tree_.var(index);
    if (var.is_split()) return add_split(var, coefficient, part);
    if (var.extent == 1) return true;
    const Outside outside =
        point_.stage == kNone ? Outside::No : is_outside(tree_, index, point_.stage, point_.loop);
    if (outside == Outside::Partly) {
      partly_ = index;
      return false;
    }
    if (outside == Outside::Yes) {
      part->fixed = true;
      return range_.base.add_term(static_cast<uint32_t>(index), coefficient);
    }
    part->reach = var.extent - 1;
    range_.ragged |= var.ragged;
    add_moving(coefficient, var.extent);
    return true;
  }

  // The parts of a split with a remainder do not take all combinations of their values: together
  // they stay below the extent of the split variable.
  //
  //   i < 9, parts i.1 < 2 (weight 5), i.2 < 5 (weight 1):  not 5*1 + 4 = 9 but 8
  bool add_split(const LoopVar& var, int64_t coefficient, Movement* out) {
    if (var.unordered &&
        tree_.var(var.first_part).stride * tree_.var(var.first_part).extent != var.extent) {
      range_.whole = true;  // guarded: some combinations of the parts do not exist
      return true;
    }
    const size_t before = moving_.size();
    const bool was_ragged = range_.ragged;
    bool inner = true;
    for (int k = 0; k < var.parts; ++k) {
      const auto index = static_cast<VarIndex>(var.first_part + k);
      const int64_t stride = tree_.var(index).stride;
      Movement part;
      if (!add(index, coefficient * stride, &part)) return false;
      out->reach += stride * part.reach;
      out->fixed |= part.fixed;
      const bool decides = k + 1 < var.parts || tail_of(var) == Tail::Pad;
      if (decides && part.fixed && part.reach > 0 && may_leave_remainder(var)) {
        range_.whole = true;  // the tile, and so its length, is unknown at this point
      }
      if (part.reach > 0 && k < var.resolved) inner = false;
    }
    if (!out->fixed && out->reach > 0) {
      out->reach = var.extent - 1;  // all of it moves, in any branch
    }
    if (inner && out->fixed && var.resolved > 0) {
      range_.base.constant += coefficient * var.shift;
      out->reach = std::min(out->reach, (var.valid > 0 ? var.valid : var.rest) - 1);
    }
    out->reach = std::min(out->reach, var.extent - 1);
    if (!out->fixed) {  // one contiguous range of values
      moving_.resize(before);
      range_.ragged = was_ragged || var.ragged;
      if (out->reach > 0) add_moving(coefficient, out->reach + 1);
    } else {
      range_.ragged |= (var.remainder != 0 || var.ragged) && out->reach > 0;
      if (var.resolved == 0) range_.slack += coefficient * overlap_of(tree_, var);
    }
    return true;
  }

  // Attached stages can get a remainder in a tail of their reader.
  bool may_leave_remainder(const LoopVar& var) const {
    return var.remainder != 0 ||
           (var.kind == IterKind::Spatial && tree_.stage(var.stage).place == Attachment::At);
  }

  void add_moving(int64_t coefficient, int64_t count) {
    if (moving_.full()) {
      range_.exact = false;
    } else {
      moving_.push_back({coefficient, count});
    }
  }

  const LoopTree& tree_;
  Point point_;
  Range& range_;
  MovingTerms moving_;
  VarIndex partly_ = kNone;
};

void finish(Range* range, MovingTerms& moving) {
  range->exact = is_dense(moving, &range->stride) && range->exact && !range->ragged;
  range->exact = range->exact && range->slack == 0;
}

// Elements of one dimension of the operand.
int64_t whole_extent(const LoopTree& tree, const Access& access, size_t dim) {
  const Buffer& buffer = tree.buffer(access.buffer);
  const te::Tensor& tensor = tree.dag->tensor(buffer.tensor);
  // The factored dimension of a partial result is not a dimension of the tensor.
  return dim < tensor.shape.size() ? tensor.shape[dim].high : buffer.extent[dim];
}

class StageRanges {
 public:
  StageRanges(const LoopTree& tree, StageIndex stage, Point point)
      : tree_(tree), index_(stage), point_(point) {}

  VarIndex partly() const { return partly_; }

  // The values of one axis. False as in RangeBuilder::add; then `partly` may be set.
  bool axis(size_t number, Range* out) {
    const Stage& stage = tree_.stage(index_);
    const VarIndex axis = stage.axes[number];
    const bool attached = stage.place == Attachment::At && number < stage.origin.size() &&
                          tree_.var(axis).kind == IterKind::Spatial;
    *out = {};
    if (attached) {
      if (origin_moves(stage.origin[number])) {
        if (read_.empty() && !add_readers()) return false;
        *out = read_[number];
        return true;
      }
      out->base = stage.origin[number];
      out->slack = stage.origin_slack[number];
    }
    if (point_.stage != index_) {  // further out: all loops of this stage move
      out->reach = tree_.var(axis).extent - 1;
      out->ragged = tree_.var(axis).ragged;
      out->exact = !out->ragged && out->slack == 0;
      return true;
    }
    RangeBuilder builder(tree_, point_, out);
    const bool known = builder.add(axis);
    partly_ = builder.partly();
    if (known) finish(out, builder.moving());
    return known;
  }

  // coefficient * axis + ... + constant. Also quotients (te/access.h).
  bool form(const arith::Affine& index, Range* out) {
    *out = {};
    if (is_axis(index)) return axis(index.terms[0].var, out);
    out->base.constant = index.constant;
    MovingTerms moving;
    for (const arith::Term& term : index.terms) {
      Range part;
      const bool known = term.var < te::kFirstQuotient
                             ? axis(term.var, &part)
                             : quotient(tree_.quotients[term.var - te::kFirstQuotient], &part);
      if (!known) return false;
      if (part.whole) {
        out->whole = true;
        return true;
      }
      if (!out->base.add(part.base, term.coefficient)) return false;
      const int64_t weight = std::abs(term.coefficient);
      if (term.coefficient < 0) {  // negative: the start depends on the extent
        out->base.constant += term.coefficient * part.reach;
        if (part.ragged) out->slack += weight * part.reach;
      }
      out->reach += weight * part.reach;
      out->slack += weight * part.slack;
      out->exact = out->exact && (part.exact || part.ragged);
      out->ragged |= part.ragged;
      if (part.reach > 0) moving.push_back({weight * part.stride, part.reach / part.stride + 1});
    }
    finish(out, moving);
    return true;
  }

 private:
  // The common case.
  static bool is_axis(const arith::Affine& index) {
    return index.constant == 0 && index.terms.size() == 1 && index.terms[0].coefficient == 1 &&
           index.terms[0].var < te::kFirstQuotient;
  }

  bool origin_moves(const arith::Affine& origin) const {
    return std::ranges::any_of(origin.terms, [&](const arith::Term& term) {
      return point_.stage == kNone || is_outside(tree_, static_cast<VarIndex>(term.var),
                                                 point_.stage, point_.loop) != Outside::Yes;
    });
  }

  // The loops between the point and the stage move its origin: it computes there exactly what its
  // readers read.
  bool add_readers() {
    for (const Access& access : tree_.accesses) {
      if (!is_live(tree_, access) || tree_.buffer(access.buffer).stage != index_) continue;
      std::array<RegionDim, kMaxRank> dims;
      if (!region_at(tree_, access, point_.stage, point_.loop, dims.data(), &partly_)) return false;
      const bool first = read_.empty();
      read_.resize(access.rank);
      for (size_t d = 0; d < access.rank; ++d) {
        const RegionDim& region = dims[d];
        const Range range{.base = region.base,
                          .reach = region.extent - 1,
                          .slack = region.slack,
                          .stride = 1,
                          .exact = region.exact && region.stride == 1,
                          .ragged = region.ragged,
                          .whole = region.whole};
        read_[d] = first ? range : hull(read_[d], range);
      }
    }
    return true;
  }

  static Range hull(const Range& a, const Range& b) {
    if (a.whole || b.whole || !(a.base.terms == b.base.terms)) return {.whole = true};
    Range out = a;
    out.base.constant = std::min(a.base.constant, b.base.constant);
    const int64_t end = std::max(a.base.constant + a.reach, b.base.constant + b.reach);
    out.reach = end - out.base.constant;
    out.slack = std::max(a.slack, b.slack);
    out.exact = false;
    out.ragged = a.ragged || b.ragged;
    return out;
  }

  // floor(f / divisor) mod modulus
  bool quotient(const te::Quotient& quotient, Range* out) {
    if (!form(quotient.of, out)) return false;
    const auto divides = [&](const arith::Term& term) {
      return term.coefficient % quotient.divisor == 0;
    };
    // If outer loops move it by less than the divisor: its value while these move too.
    for (Point at = point_; !out->whole && !std::ranges::all_of(out->base.terms, divides);) {
      at = outside_of(at);
      if (!StageRanges(tree_, index_, at).form(quotient.of, out)) return false;
      out->exact = false;
      out->ragged = true;
    }
    if (out->whole) return true;
    if (quotient.divisor > 1) divide(quotient.divisor, out);
    if (quotient.modulus > 0) wrap(quotient.modulus, out);
    return true;
  }

  // The next outer loop.
  Point outside_of(Point point) const {
    const Stage& stage = tree_.stage(point.stage);
    const int position = tree_.var(point.loop).position;
    if (position > 0) return {point.stage, stage.loops[static_cast<size_t>(position - 1)]};
    if (stage.place == Attachment::At) return {stage.at_stage, stage.at_loop};
    return {};
  }

  // The box contains the quotient for every start of the dividend; the start of the quotient moves
  // with it.
  static void divide(int64_t divisor, Range* range) {
    const int64_t first = range->base.constant - range->slack;
    const int64_t latest = range->base.constant + range->slack;
    const int64_t last = latest + range->reach;
    for (arith::Term& term : range->base.terms) term.coefficient /= divisor;
    range->base.constant = ir::floor_div(first, divisor);
    range->reach = ir::floor_div(last, divisor) - range->base.constant;
    range->exact = range->exact && range->slack == 0 && range->stride <= divisor;
    range->slack = ir::floor_div(latest, divisor) - range->base.constant;
    range->stride = 1;
  }

  void wrap(int64_t modulus, Range* range) const {
    arith::Affine base;
    base.constant = ir::floor_mod(range->base.constant, modulus);
    int64_t low = base.constant - range->slack;
    int64_t high = base.constant + range->reach + range->slack;
    for (const arith::Term& term : range->base.terms) {
      if (term.coefficient % modulus == 0) continue;  // whole periods
      base.terms.push_back(term);
      const int64_t reach =
          term.coefficient * (tree_.var(static_cast<VarIndex>(term.var)).extent - 1);
      (reach < 0 ? low : high) += reach;
    }
    if (low >= 0 && high < modulus) {
      range->base = base;
      return;
    }
    range->whole = true;
  }

  const LoopTree& tree_;
  StageIndex index_;
  Point point_;
  VarIndex partly_ = kNone;
  // The region of each dimension that readers need, computed on demand.
  InlineVector<Range, kMaxRank> read_;
};

// The axes that a term of an index depends on, one bit each.
uint64_t axes_of(const LoopTree& tree, uint32_t var) {
  if (var < te::kFirstQuotient) return uint64_t{1} << var;
  uint64_t bits = 0;
  for (const arith::Term& term : tree.quotients[var - te::kFirstQuotient].of.terms) {
    bits |= uint64_t{1} << term.var;
  }
  return bits;
}

// The guard keeps indices in bounds; a box that may exceed them is widened to the whole dimension.
void clip(const LoopTree& tree, int64_t full, RegionDim* dim) {
  dim->clipped = true;
  dim->exact = false;
  int64_t low = dim->base.constant - dim->slack;
  int64_t high = dim->base.constant + dim->extent - 1 + dim->slack;
  for (const arith::Term& term : dim->base.terms) {
    const int64_t reach = term.coefficient * (tree.var(static_cast<VarIndex>(term.var)).extent - 1);
    (reach < 0 ? low : high) += reach;
  }
  if (low >= 0 && high < full) return;
  const int64_t passes = std::min(high, full - 1) - std::max<int64_t>(low, 0) + 1;
  *dim = {.whole = true, .clipped = true, .extent = full};
  dim->guard_density =
      static_cast<double>(std::max<int64_t>(passes, 0)) / static_cast<double>(high - low + 1);
}

}  // namespace

PositionRange loop_positions(const LoopTree& tree, VarIndex var) {
  PositionRange range{.first = kMaxLoops, .last = -1};
  widen(tree, var, &range);
  return range;
}

Outside is_outside(const LoopTree& tree, VarIndex index, StageIndex at_stage, VarIndex at) {
  const StageIndex owner = tree.var(index).stage;
  while (at_stage != owner) {
    const Stage& stage = tree.stage(at_stage);
    if (stage.place != Attachment::At) return Outside::No;
    at_stage = stage.at_stage;
    at = stage.at_loop;
  }
  const int limit = tree.var(at).position;
  const LoopVar& var = tree.var(index);
  if (var.is_loop()) return var.position <= limit ? Outside::Yes : Outside::No;
  const PositionRange range = loop_positions(tree, index);
  if (range.last <= limit) return Outside::Yes;
  return range.first > limit ? Outside::No : Outside::Partly;
}

bool is_within(const LoopTree& tree, StageIndex stage, StageIndex at_stage, VarIndex at) {
  while (stage != at_stage) {
    const Stage& s = tree.stage(stage);
    if (s.place != Attachment::At) return false;
    if (s.at_stage == at_stage) return tree.var(s.at_loop).position >= tree.var(at).position;
    stage = s.at_stage;
  }
  return true;
}

bool is_live(const LoopTree& tree, const Access& access) {
  const Stage& reader = tree.stage(access.stage);
  if (reader.place == Attachment::Inlined) return false;
  const auto at = static_cast<size_t>(&access - tree.accesses.data());
  return at >= reader.first_access && at < reader.first_access + size_t{reader.accesses};
}

int64_t overlap_of(const LoopTree& tree, const LoopVar& var) {
  if (var.tail != Tail::Overlap || !var.is_split()) return 0;
  const int64_t tile = tree.var(static_cast<VarIndex>(var.first_part + var.parts - 2)).stride;
  if (var.extent <= tile) return 0;
  if (var.ragged) return tile - 1;  // for its largest extent
  return (tile - var.extent % tile) % tile;
}

namespace {

bool region_in(const LoopTree& tree, const Access& access, StageRanges& ranges, RegionDim* dims,
               VarIndex* partly) {
  uint64_t seen = 0;    // axes that occur in some dimension
  uint64_t shared = 0;  // ... in two
  for (size_t d = 0; d < access.rank; ++d) {
    const AccessDim& dim = tree.dims[access.first_dim + d];
    RegionDim& out = dims[d];
    const int64_t full = whole_extent(tree, access, d);
    out = {.whole = true, .extent = full};
    if (!dim.affine && !dim.quasi_affine) continue;
    Range range;
    if (!ranges.form(dim.index, &range)) {
      *partly = ranges.partly();
      return false;
    }
    for (const arith::Term& term : dim.index.terms) {
      const uint64_t bits = axes_of(tree, term.var);
      shared |= seen & bits;
      seen |= bits;
    }
    if (range.whole) continue;
    out = {.exact = range.exact,
           .ragged = range.ragged,
           .extent = 1 + range.reach,
           .slack = range.slack,
           .stride = range.stride,
           .base = range.base};
    if (access.guarded) clip(tree, full, &out);
  }
  if (shared != 0) {
    for (size_t d = 0; d < access.rank; ++d) dims[d].exact = false;
  }
  return true;
}

}  // namespace

bool region_at(const LoopTree& tree, const Access& access, StageIndex at_stage, VarIndex at,
               RegionDim* dims, VarIndex* partly) {
  StageRanges ranges(tree, access.stage, {at_stage, at});
  return region_in(tree, access, ranges, dims, partly);
}

void set_root_regions(LoopTree& tree) {
  for (size_t k = 0; k < tree.stages.size(); ++k) {
    const Stage& stage = tree.stages[k];
    if (!stage.has_loops()) continue;
    StageRanges everywhere(tree, static_cast<StageIndex>(k), {});
    for (const Access& access : tree.reads_of(stage)) {
      if (tree.stage(tree.buffer(access.buffer).stage).place == Attachment::At) continue;
      VarIndex partly = kNone;
      const bool known =
          region_in(tree, access, everywhere, &tree.regions[access.first_dim], &partly);
      CHECK(known, "everything moves, so nothing is fixed in part");
    }
  }
}

RegionDim hull_of(const RegionDim& a, const RegionDim& b) {
  if (a.whole || b.whole || !(a.base.terms == b.base.terms)) {
    return {.whole = true, .extent = std::max(a.extent, b.extent)};
  }
  RegionDim out = a;
  out.base.constant = std::min(a.base.constant, b.base.constant);
  const int64_t end = std::max(a.base.constant + a.extent, b.base.constant + b.extent);
  out.extent = end - out.base.constant;
  const bool same = a.base.constant == b.base.constant && a.extent == b.extent;
  out.exact = a.exact && b.exact && same && a.stride == b.stride;
  out.stride = a.stride == b.stride && same ? a.stride : 1;
  out.ragged = a.ragged || b.ragged;
  out.slack = std::max(a.slack, b.slack);
  out.clipped = a.clipped || b.clipped;
  return out;
}

void region_of(const LoopTree& tree, const Access& access, StageIndex at_stage, VarIndex at,
               RegionDim* dims) {
  VarIndex partly = kNone;
  if (region_at(tree, access, at_stage, at, dims, &partly)) return;
  for (size_t d = 0; d < access.rank; ++d) {
    dims[d] = {.whole = true, .extent = whole_extent(tree, access, d)};
  }
}

}  // namespace tilewright::schedule
