#include "schedule/numbers.h"

#include <algorithm>

#include "base/rounding.h"
#include "schedule/factors.h"
#include "schedule/region.h"
#include "schedule/tree_editor.h"

namespace tilewright::schedule {
namespace {

class Numbers {
 public:
  Numbers(const Trace& trace, LoopTree& tree) : trace_(trace), tree_(tree) {}

  Illegal run() {
    tree_.forms.resize(tree_.dims.size());
    tree_.regions.resize(tree_.dims.size());
    for (size_t k = tree_.order.size(); k-- > 0;) {
      const StageIndex index = tree_.order[k];
      Stage& stage = tree_.stage(index);
      if (stage.kind == StageKind::Input) {
        set_full_extents(stage);
        continue;
      }
      if (stage.place == Attachment::Inlined || stage.frozen) continue;
      if (const Illegal illegal = set_axes(index)) return illegal;
      if (const Illegal illegal = set_variables(index)) return illegal;
      if (const Illegal illegal = set_forms(index)) return illegal;
      set_buffers(stage);
    }
    if (const Illegal illegal = check_packs()) return illegal;
    if (const Illegal illegal = check_size()) return illegal;
    if (!tree_.lowering) set_root_regions(tree_);
    return {};
  }

 private:
  int64_t tensor_extent(const Stage& stage, size_t dim) const {
    return tree_.dag->tensor(tree_.buffer(stage.first_buffer).tensor).shape[dim].high;
  }

  void set_full_extents(const Stage& stage) {
    Buffer& buffer = tree_.buffer(stage.first_buffer);
    buffer.extent.resize(buffer.rank);
    for (size_t d = 0; d < buffer.rank; ++d) buffer.extent[d] = tensor_extent(stage, d);
  }

  // Extents of the axes: the whole operator at root; the region that the readers need if attached.
  Illegal set_axes(StageIndex index) {
    Stage& stage = tree_.stage(index);
    const te::Op& op = tree_.dag->op(stage.op);
    const size_t rank = op.kind == te::OpKind::Placeholder ? stage.dims.size() : op.axes.size();
    stage.origin.resize(stage.dims.size());
    for (arith::Affine& origin : stage.origin) origin = {};
    stage.origin_slack.clear();
    stage.origin_slack.resize(stage.dims.size());
    for (size_t d = 0; d < rank; ++d) {
      tree_.var(stage.axes[d]).extent = tensor_extent(stage, d);
      tree_.var(stage.axes[d]).ragged = false;
    }
    for (size_t a = rank; a < stage.axes.size(); ++a) {
      LoopVar& axis = tree_.var(stage.axes[a]);
      axis.ragged = false;
      axis.extent = stage.kind == StageKind::Combine ? folded_extent(index)
                                                     : op.reduce_axes[a - rank].extent.high;
    }
    return stage.place == Attachment::At ? set_attached_axes(index) : Illegal{};
  }

  // The number of partial results that a Combine folds: the extent of the factored variable, which
  // depends only on reduce axes and factors.
  int64_t folded_extent(StageIndex combine) {
    const Access& access = tree_.accesses[tree_.stage(combine).first_access];
    const StageIndex partial = tree_.buffer(access.buffer).stage;
    const Stage& stage = tree_.stage(partial);
    const te::Op& op = tree_.dag->op(stage.op);
    for (size_t a = op.axes.size(); a < stage.axes.size(); ++a) {
      tree_.var(stage.axes[a]).extent = op.reduce_axes[a - op.axes.size()].extent.high;
    }
    for (LoopVar& var : tree_.vars) {
      if (var.stage == partial && var.origin != VarOrigin::Axis) set_variable(var);
    }
    return tree_.var(stage.dims.back()).extent;
  }

  Illegal set_attached_axes(StageIndex index) {
    Stage& stage = tree_.stage(index);
    const size_t rank = stage.dims.size();
    std::array<RegionDim, kMaxRank> hull;
    bool first = true;
    for (const Access& access : tree_.accesses) {
      if (!is_live(tree_, access) || tree_.buffer(access.buffer).stage != index) continue;
      RegionDim* dims = &tree_.regions[access.first_dim];
      VarIndex partly = kNone;
      if (!region_at(tree_, access, stage.at_stage, stage.at_loop, dims, &partly)) {
        if (partly == kNone) {
          return {IllegalCode::TooManyTerms, stage.place_step, stage.name, {}};
        }
        return {IllegalCode::PartlyFused, stage.place_step, tree_.stage(access.stage).name,
                tree_.var(partly).name};
      }
      for (size_t d = 0; d < rank; ++d) hull[d] = first ? dims[d] : hull_of(hull[d], dims[d]);
      first = false;
    }
    for (size_t d = 0; d < rank; ++d) {
      LoopVar& axis = tree_.var(stage.dims[d]);
      if (axis.origin != VarOrigin::Axis) continue;  // factored: whole, or InsideFold rejects it
      const auto bit = static_cast<uint16_t>(1u << d);
      if (!tree_.lowering) {
        stage.whole_dims =
            static_cast<uint16_t>(hull[d].whole ? stage.whole_dims | bit : stage.whole_dims & ~bit);
      }
      if ((stage.whole_dims & bit) != 0) continue;  // the extent is already the whole dimension
      axis.extent = std::min(axis.extent, hull[d].extent);
      axis.ragged = hull[d].ragged;
      stage.origin[d] = hull[d].base;
      stage.origin_slack[d] = hull[d].slack;
    }
    return {};
  }

  void set_variable(LoopVar& var) {
    if (var.origin == VarOrigin::Fused) {
      var.extent = 1;
      var.ragged = false;
      for (VarIndex m = var.first_member; m != kNone; m = tree_.var(m).next_member) {
        var.extent *= tree_.var(m).extent;
        var.ragged |= tree_.var(m).ragged;
      }
      int64_t divisor = var.extent;
      for (VarIndex m = var.first_member; m != kNone; m = tree_.var(m).next_member) {
        divisor /= std::max<int64_t>(1, tree_.var(m).extent);
        tree_.var(m).divisor = divisor;
      }
      return;
    }
    if (var.part != 0) return;  // done with its first part
    set_parts(tree_.var(var.parent), factors_of(trace_, var.step));
  }

  // Computes all parts of a split variable: strides from the inside out, then extents.
  void set_parts(LoopVar& whole, const Factors& factors) {
    const auto part = [&](int k) -> LoopVar& {
      return tree_.var(static_cast<VarIndex>(whole.first_part + k));
    };
    int64_t stride = 1;
    for (int k = whole.parts - 1; k >= 0; --k) {
      part(k).stride = stride;
      if (k > 0) stride *= factors[static_cast<size_t>(k - 1)];
    }
    if (whole.unordered) {
      for (int k = 0; k < whole.parts; ++k) {
        part(k).extent =
            k == 0 ? ceil_div(whole.extent, part(0).stride) : factors[static_cast<size_t>(k - 1)];
        part(k).ragged = false;
      }
      whole.remainder = 0;
      return;
    }
    int64_t rest = whole.resolved > 0 ? whole.rest : whole.extent;
    // Outer parts of one iteration leave everything to the first inner part with more.
    int first = whole.resolved;
    while (first + 1 < whole.parts && rest <= part(first).stride) ++first;
    whole.remainder = rest % part(first).stride;
    // If it is padded or overlaps, the innermost tile is complete in the tail too.
    const int innermost = whole.parts - 1;
    const int64_t tile = part(innermost - 1).stride;
    const bool pads = tail_of(whole) == Tail::Pad;
    const bool whole_tiles = pads || (whole.tail == Tail::Overlap && rest >= tile);
    if (whole_tiles && whole.resolved < innermost) {
      if (first == innermost) whole.remainder = rest % tile;  // one tile, larger than the rest
      rest = ceil_div(rest, tile) * tile;
    }
    for (int k = 0; k < whole.parts; ++k) {
      const int64_t available = ceil_div(k >= whole.resolved ? rest : whole.extent, part(k).stride);
      const int64_t nominal = k == 0 ? available : factors[static_cast<size_t>(k - 1)];
      part(k).extent = std::min(nominal, available);
      part(k).ragged = whole.ragged || (k > first && whole.remainder != 0);
      if (k == innermost && whole_tiles) part(k).ragged = whole.ragged && !pads;
    }
  }

  Illegal set_variables(StageIndex index) {
    const Stage& stage = tree_.stage(index);
    for (size_t k = 0; k < tree_.vars.size(); ++k) {
      LoopVar& var = tree_.vars[k];
      if (var.stage != index || var.origin == VarOrigin::Axis) continue;
      set_variable(var);
      if (var.origin == VarOrigin::Part && var.part == 0) {
        if (const Illegal illegal = check_tail(index, var.parent)) return illegal;
      }
    }
    if (stage.kind == StageKind::Partial) return check_factored(stage);
    return {};
  }

  // Attached stages can get a remainder in a tail of their reader.
  Illegal check_tail(StageIndex index, VarIndex parent) const {
    const Stage& stage = tree_.stage(index);
    const LoopVar& whole = tree_.var(parent);
    const bool may_shrink = stage.place == Attachment::At && whole.kind == IterKind::Spatial;
    if (whole.remainder == 0 && !whole.ragged && !may_shrink) return {};
    if (const Illegal illegal = check_tail_kind(index, whole)) return illegal;
    return check_tail_order(stage, whole);
  }

  // Overlapping elements are computed twice, each time from the beginning. Padded elements are
  // stored past the end of an axis, in a buffer of the stage.
  Illegal check_tail_kind(StageIndex index, const LoopVar& whole) const {
    const Stage& stage = tree_.stage(index);
    const auto reject = [&](IllegalCode code) {
      return Illegal{code, tree_.var(whole.first_part).step, stage.name, whole.name};
    };
    if (whole.tail == Tail::Overlap) {
      if (whole.kind == IterKind::Reduce) return reject(IllegalCode::OverlapReduce);
      int first_reduce = kMaxLoops;
      for (const VarIndex loop : stage.loops) {
        const LoopVar& var = tree_.var(loop);
        if (var.kind == IterKind::Reduce) first_reduce = std::min(first_reduce, int{var.position});
      }
      for (int k = 0; k + 1 < whole.parts; ++k) {
        const auto part = static_cast<VarIndex>(whole.first_part + k);
        const PositionRange loops = loop_positions(tree_, part);
        if (loops.last > first_reduce) return reject(IllegalCode::OverlapReduce);
        // Two threads would fold into the elements that tiles share.
        if (first_reduce < static_cast<int>(kMaxLoops) && is_parallel(stage, loops)) {
          return reject(IllegalCode::OverlapParallel);
        }
      }
    }
    if (whole.tail == Tail::Pad && whole.kind == IterKind::Spatial) {
      if (tree_.is_output(index)) return reject(IllegalCode::PadOutput);
      if (whole.origin != VarOrigin::Axis) return reject(IllegalCode::PadInner);
    }
    return {};
  }

  bool is_parallel(const Stage& stage, PositionRange loops) const {
    for (int k = loops.first; k <= loops.last; ++k) {
      if (tree_.var(stage.loops[static_cast<size_t>(k)]).is_parallel()) return true;
    }
    return false;
  }

  // A remainder is handled where the outer part has its last value, so the outer part must be known
  // before an inner one begins.
  Illegal check_tail_order(const Stage& stage, const LoopVar& whole) const {
    int outermost_inner = kMaxLoops;
    for (int k = whole.parts - 1; k >= 0; --k) {
      const auto part = static_cast<VarIndex>(whole.first_part + k);
      const PositionRange range = loop_positions(tree_, part);
      if (range.last >= outermost_inner) {
        return {IllegalCode::TailOrder, tree_.var(part).step, stage.name,
                tree_.var(part).name,   whole.extent,         whole.remainder};
      }
      outermost_inner = std::min(outermost_inner, range.first);
    }
    return {};
  }

  // The parts of a factored reduction must divide: partial results have no tail.
  Illegal check_factored(const Stage& stage) const {
    for (VarIndex var = stage.dims.back(); var != kNone; var = tree_.var(var).parent) {
      const LoopVar& v = tree_.var(var);
      if (v.ragged || v.remainder != 0) {
        return {IllegalCode::BadFactor, v.step, stage.name, v.name, v.extent, v.remainder};
      }
    }
    return {};
  }

  Illegal set_forms(StageIndex index) {
    const Stage& stage = tree_.stage(index);
    InlineVector<arith::Affine, kMaxAxes> axes;
    for (size_t a = 0; a < stage.axes.size(); ++a) {
      const bool moves = a < stage.origin.size() && stage.place == Attachment::At &&
                         tree_.var(stage.axes[a]).kind == IterKind::Spatial;
      if (moves) {
        axes.push_back(stage.origin[a]);
      } else {
        axes.resize(a + 1);
      }
      if (!form_of(tree_, stage.axes[a], &axes[a])) {
        return {IllegalCode::TooManyTerms, stage.place_step, stage.name, {}};
      }
    }
    for (const Access& access : tree_.reads_of(stage)) {
      for (size_t d = access.first_dim; d < access.first_dim + size_t{access.rank}; ++d) {
        if (!tree_.dims[d].affine) continue;
        const arith::Affine& index_form = tree_.dims[d].index;
        arith::Affine& form = tree_.forms[d];
        form = {};
        form.constant = index_form.constant;
        for (const arith::Term& term : index_form.terms) {
          if (!form.add(axes[term.var], term.coefficient)) {
            return {IllegalCode::TooManyTerms, stage.place_step, stage.name, {}};
          }
        }
      }
    }
    return {};
  }

  void set_buffers(const Stage& stage) {
    for (int k = 0; k < stage.buffers; ++k) {
      Buffer& buffer = tree_.buffer(static_cast<BufferIndex>(stage.first_buffer + k));
      buffer.extent.resize(buffer.rank);
      for (size_t d = 0; d < buffer.rank; ++d)
        buffer.extent[d] = room_for(tree_.var(stage.dims[d]));
    }
  }

  // Elements that a dimension needs, including the surplus of a padded tile.
  int64_t room_for(const LoopVar& var) const {
    if (!var.is_split() || tail_of(var) != Tail::Pad) return var.extent;
    const int64_t tile = tree_.var(static_cast<VarIndex>(var.first_part + var.parts - 2)).stride;
    return ceil_div(var.extent, tile) * tile;
  }

  // The loops of a packed dimension are the digits of its layout: each weight must be a multiple of
  // the next smaller one.
  Illegal check_packs() const {
    for (const Buffer& buffer : tree_.buffers) {
      if (buffer.packed_for == kNone) continue;
      const Stage& reader = tree_.stage(buffer.packed_for);
      const Stage& writer = tree_.stage(buffer.stage);
      const auto is_digit = [&](const arith::Term& term) {
        return writer.place != Attachment::At ||
               is_outside(tree_, static_cast<VarIndex>(term.var), writer.at_stage,
                          writer.at_loop) != Outside::Yes;
      };
      for (const Access& access : tree_.reads_of(reader)) {
        if (&tree_.buffer(access.buffer) != &buffer) continue;
        for (size_t d = access.first_dim; d < access.first_dim + size_t{access.rank}; ++d) {
          if (!is_one_axis(tree_.dims[d])) continue;
          for (const arith::Term& a : tree_.forms[d].terms) {
            if (!is_digit(a)) continue;
            for (const arith::Term& b : tree_.forms[d].terms) {
              if (!is_digit(b) || a.coefficient % b.coefficient == 0) continue;
              if (a.coefficient < b.coefficient) continue;
              return {IllegalCode::PackTiles, buffer.pack_step, reader.name, {},
                      a.coefficient,          b.coefficient};
            }
          }
        }
      }
    }
    return {};
  }

  Illegal check_size() const {
    constexpr int kVectorBytes = 64;
    const int64_t size = tree_.lowering ? 0 : estimated_instructions(tree_, kVectorBytes);
    if (size <= kMaxInstructions) return {};
    return {IllegalCode::CodeTooLarge, kNone, {}, {}, size, kMaxInstructions};
  }

  const Trace& trace_;
  LoopTree& tree_;
};

}  // namespace

Illegal compute_numbers(const Trace& trace, LoopTree* tree) { return Numbers(trace, *tree).run(); }

bool form_of(const LoopTree& tree, VarIndex index, arith::Affine* form, int64_t times) {
  const LoopVar& var = tree.var(index);
  if (!var.is_split()) {
    return var.extent == 1 || form->add_term(static_cast<uint32_t>(index), times);
  }
  form->constant += times * var.shift;
  for (int k = 0; k < var.parts; ++k) {
    const auto part = static_cast<VarIndex>(var.first_part + k);
    int64_t weight = 0;  // the weight of a part of one value may not fit; it contributes nothing
    if (__builtin_mul_overflow(times, tree.var(part).stride, &weight)) continue;
    if (!form_of(tree, part, form, weight)) return false;
  }
  return true;
}

}  // namespace tilewright::schedule
