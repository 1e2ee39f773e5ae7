#include "feature/rows_memory.h"

#include <algorithm>

#include "feature/rows_arith.h"
#include "schedule/nesting_depth.h"
#include "schedule/region.h"

namespace tilewright::feature {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

int64_t full_extent(const LoopTree& tree, const Stage& stage, size_t axis) {
  const te::Op& op = tree.dag->op(stage.op);
  const bool of_op = stage.kind == StageKind::Compute || stage.kind == StageKind::Partial;
  if (of_op && axis < op.axes.size()) return op.axes[axis].extent.high;
  if (of_op && axis - op.axes.size() < op.reduce_axes.size()) {
    return op.reduce_axes[axis - op.axes.size()].extent.high;
  }
  const te::Tensor& tensor = tree.dag->tensor(tree.buffer(stage.first_buffer).tensor);
  return axis < tensor.shape.size() ? tensor.shape[axis].high : tree.var(stage.axes[axis]).extent;
}

}  // namespace

void BufferDigits::begin(const LoopTree& tree) {
  tree_ = &tree;
  digits_.resize(tree.buffers.size());
  is_known_.assign(tree.buffers.size(), 0);
}

// Like schedule::layout_of, without allocation.
const BufferDigits::Digits& BufferDigits::of(BufferIndex index) {
  Digits& digits = digits_[static_cast<size_t>(index)];
  if (is_known_[static_cast<size_t>(index)] != 0) return digits;
  is_known_[static_cast<size_t>(index)] = 1;
  digits.clear();
  const Buffer& buffer = tree_->buffer(index);
  const Stage& writer = tree_->stage(buffer.stage);
  for (const Access& access : tree_->reads_of(tree_->stage(buffer.packed_for))) {
    if (access.buffer != index) continue;
    for (size_t d = 0; d < access.rank; ++d) {
      for (const arith::Term& term : tree_->forms[access.first_dim + d].terms) {
        const auto var = static_cast<VarIndex>(term.var);
        if (writer.place == Attachment::At &&
            is_outside(*tree_, var, writer.at_stage, writer.at_loop) == Outside::Yes) {
          continue;
        }
        const LoopVar* loop = &tree_->var(var);
        int64_t fused = 1;
        while (!loop->is_loop()) {
          if (loop->fused_into != kNone) fused *= loop->divisor;
          loop = &tree_->var(loop->fused_into != kNone ? loop->fused_into : loop->first_part);
        }
        bool known = digits.full();
        for (const Digit& other : digits) {
          known |= other.dim == d && other.divisor == term.coefficient;
        }
        if (known) continue;
        digits.push_back({.dim = static_cast<uint8_t>(d),
                          .divisor = term.coefficient,
                          .depth = nesting_depth(*tree_, *loop),
                          .fused = fused});
      }
    }
  }
  for (Digit& digit : digits) {  // up to the next larger divisor of its dimension
    int64_t above = 0;
    for (const Digit& other : digits) {
      if (other.dim != digit.dim || other.divisor <= digit.divisor) continue;
      if (above == 0 || other.divisor < above) above = other.divisor;
    }
    digit.extent = ((above == 0 ? buffer.extent[digit.dim] : above) + digit.divisor - 1) /
                   std::max<int64_t>(1, digit.divisor);
  }
  std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) {
    if (a.depth != b.depth) return a.depth > b.depth;
    return a.fused != b.fused ? a.fused < b.fused : a.dim > b.dim;
  });
  int64_t stride = 1;  // innermost first
  for (Digit& digit : digits) {
    digit.stride = stride;
    stride *= digit.extent;
  }
  return digits;
}

double guard_density(const LoopTree& tree, const Access& access) {
  const Stage& stage = tree.stage(access.stage);
  const te::Tensor& tensor = tree.dag->tensor(tree.buffer(access.buffer).tensor);
  double density = 1;
  for (size_t d = 0; d < access.rank; ++d) {
    const AccessDim& dim = tree.dims[access.first_dim + d];
    if (!dim.affine) {
      const RegionDim& region = tree.regions[access.first_dim + d];
      if (region.clipped) density *= region.guard_density;
      continue;
    }
    InlineVector<IndexTerm, arith::Affine::kMaxTerms> terms;
    for (const arith::Term& term : dim.index.terms) {
      terms.push_back({term.coefficient, full_extent(tree, stage, term.var)});
    }
    density *=
        inside_share({terms.begin(), terms.size()}, dim.index.constant, tensor.shape[d].high);
  }
  return density;
}

}  // namespace tilewright::feature
