#include "schedule/region.h"

#include <algorithm>

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

struct Moving {  // one term of an index whose variable is inside
  int64_t coefficient;
  int64_t extent;
};

using MovingTerms = InlineVector<Moving, arith::Affine::kMaxTerms>;

void insert_sorted(MovingTerms& terms, const Moving& term) {
  size_t at = 0;
  while (at < terms.size() && terms[at].coefficient <= term.coefficient) ++at;
  terms.insert_at(at, term);
}

// Does the sum of the terms, by rising coefficient, take every multiple of the smallest one in its
// range? Each must not step further than what the smaller ones cover.
bool is_dense(const MovingTerms& terms, int64_t* stride) {
  if (terms.empty()) return true;
  *stride = terms[0].coefficient;
  int64_t covered = 0;  // first to last so far
  for (const Moving& term : terms) {
    if (term.coefficient % *stride != 0) {
      *stride = 1;
      return false;
    }
    if (covered > 0 && term.coefficient > covered + *stride) return false;
    covered += term.coefficient * (term.extent - 1);
  }
  return true;
}

// How far a moving variable goes, in its own values, and with which coefficient.
struct Reach {
  VarIndex var;
  int64_t coefficient;
  int64_t values;  // one less than how many it takes
};

// Parts of one split do not take all combinations of their values where it leaves a remainder:
// together they stay below what the split variable takes. Replaces such parts by that variable,
// from the inside out, and sums up.
//
//   i < 9, parts i.1 < 2 (weight 5), i.2 < 5 (weight 1):  not 5*1 + 4 = 9 but 8
int64_t joint_reach(const LoopTree& tree, InlineVector<Reach, arith::Affine::kMaxTerms>& terms) {
  int64_t sum = 0;
  while (!terms.empty()) {
    // The variable made last is nobody's parent among those left.
    size_t last = 0;
    for (size_t k = 1; k < terms.size(); ++k) {
      if (terms[k].var > terms[last].var) last = k;
    }
    const LoopVar& var = tree.var(terms[last].var);
    if (var.origin != VarOrigin::Part) {
      sum += std::abs(terms[last].coefficient) * terms[last].values;
      terms.erase_at(last);
      continue;
    }
    const LoopVar& whole = tree.var(var.parent);
    Reach merged{var.parent, terms[last].coefficient / var.stride, 0};
    bool inner = true;
    for (size_t k = terms.size(); k-- > 0;) {
      const LoopVar& part = tree.var(terms[k].var);
      const bool sibling = part.origin == VarOrigin::Part && part.parent == var.parent &&
                           terms[k].coefficient == merged.coefficient * part.stride;
      if (!sibling) continue;
      merged.values += part.stride * terms[k].values;
      inner = inner && part.part >= whole.resolved;
      terms.erase_at(k);
    }
    const int64_t available = inner && whole.resolved > 0 ? whole.rest : whole.extent;
    merged.values = std::min(merged.values, available - 1);
    terms.push_back(merged);
  }
  return sum;
}

bool region_of_form(const LoopTree& tree, const arith::Affine& form, StageIndex at_stage,
                    VarIndex at, RegionDim* out, VarIndex* partly) {
  MovingTerms moving;
  InlineVector<Reach, arith::Affine::kMaxTerms> up, down;  // terms that add, terms that take away
  bool ragged = false;
  bool joint = false;   // some split among them leaves a remainder
  uint64_t stages = 0;  // of the loops that move, one bit each
  bool slides = false;  // one that takes away does: where the region begins depends on the tail
  int64_t rise = 0, fall = 0;  // furthest above and below the constant
  out->base = {};
  out->base.constant = form.constant;
  for (const arith::Term& term : form.terms) {
    const auto index = static_cast<VarIndex>(term.var);
    const Outside outside = at_stage == kNone ? Outside::No : is_outside(tree, index, at_stage, at);
    if (outside == Outside::Partly) {
      *partly = index;
      return false;
    }
    if (outside == Outside::Yes) {
      out->base.terms.push_back(term);
      continue;
    }
    const LoopVar& var = tree.var(index);
    const bool adds = term.coefficient > 0;
    (adds ? rise : fall) += std::abs(term.coefficient) * (var.extent - 1);
    (adds ? up : down).push_back({index, term.coefficient, var.extent - 1});
    insert_sorted(moving, {std::abs(term.coefficient), var.extent});
    ragged |= var.ragged;
    bool shortened = var.ragged;
    for (VarIndex p = var.parent; p != kNone; p = tree.var(p).parent) {
      shortened |= tree.var(p).remainder != 0;
    }
    joint |= shortened;
    slides |= shortened && !adds;
    stages |= uint64_t{1} << (static_cast<uint64_t>(var.stage) % 64);
  }
  if (joint) {
    rise = joint_reach(tree, up);
    fall = joint_reach(tree, down);
  }
  out->base.constant -= fall;
  out->extent = 1 + rise + fall;
  out->guard_density = 1;
  // Loops of several stages, one attached in the other, are not bounded together: where one is
  // shortened their sum could reach past the tensor.
  const bool several = (stages & (stages - 1)) != 0;
  out->whole = slides || (several && joint);
  out->clipped = false;
  out->stride = 1;
  out->exact = is_dense(moving, &out->stride) && !ragged;
  return true;
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
    if (stage.place != Place::At) return Outside::No;
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
    if (s.place != Place::At) return false;
    if (s.at_stage == at_stage) return tree.var(s.at_loop).position >= tree.var(at).position;
    stage = s.at_stage;
  }
  return true;
}

namespace {

// Elements of one dimension of what is read.
int64_t whole_extent(const LoopTree& tree, const Access& access, size_t dim) {
  const Buffer& buffer = tree.buffer(access.buffer);
  const te::Tensor& tensor = tree.dag->tensor(buffer.tensor);
  // The factored dimension of a partial result is not one of the tensor.
  return dim < tensor.shape.size() ? tensor.shape[dim].high : buffer.extent[dim];
}

}  // namespace

bool region_at(const LoopTree& tree, const Access& access, StageIndex at_stage, VarIndex at,
               RegionDim* dims, VarIndex* partly) {
  uint64_t seen = 0;    // terminal variables that move in some dimension (by number mod 64)
  uint64_t shared = 0;  // ... in two
  for (size_t d = 0; d < access.rank; ++d) {
    const size_t k = access.first_dim + d;
    RegionDim& out = dims[d];
    const int64_t full = whole_extent(tree, access, d);
    if (!tree.dims[k].affine) {
      out = {.whole = true, .extent = full};
      continue;
    }
    if (!region_of_form(tree, tree.forms[k], at_stage, at, &out, partly)) return false;
    if (out.whole) {
      out = {.whole = true, .extent = full};
      continue;
    }
    if (access.guarded) {
      // The guard keeps indices inside; a box that may stick out is cut to the whole dimension.
      out.clipped = true;
      out.exact = false;
      int64_t low = out.base.constant;
      int64_t high = out.base.constant + out.extent - 1;
      for (const arith::Term& term : out.base.terms) {
        const int64_t reach =
            term.coefficient * (tree.var(static_cast<VarIndex>(term.var)).extent - 1);
        (reach < 0 ? low : high) += reach;
      }
      if (low < 0 || high >= full) {
        const int64_t passes = std::min(high, full - 1) - std::max<int64_t>(low, 0) + 1;
        out = {.whole = true, .clipped = true, .extent = full};
        out.guard_density =
            static_cast<double>(std::max<int64_t>(passes, 0)) / static_cast<double>(high - low + 1);
      }
      continue;
    }
    for (const arith::Term& term : tree.forms[k].terms) {
      const uint64_t bit = uint64_t{1} << (term.var % 64);
      shared |= seen & bit;
      seen |= bit;
    }
  }
  if (shared != 0) {
    for (size_t d = 0; d < access.rank; ++d) dims[d].exact = false;
  }
  return true;
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
