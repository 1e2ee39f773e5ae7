// The memory layout of a buffer for TouchFinder: the distance of its elements, and the share of
// accesses whose guards hold.
#include <cstdlib>

#include "feature/rows_arith.h"
#include "feature/rows_touch.h"
#include "schedule/nesting_depth.h"

namespace tilewright::feature {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

// The distance in memory per iteration of a loop, and the number of contiguous steps.
int64_t TouchFinder::weight_of(const Touch& touch, int64_t coefficient, size_t dim, int64_t* run) {
  if (coefficient == 0) return line_bytes_;  // unknown address
  if (!touch.packed) {
    *run = dims_[dim].limit;
    return coefficient * row_stride_[dim];
  }
  const Digit* largest = nullptr;
  for (const Digit& digit : digits_of(touch.buffer)) {
    if (digit.dim != dim || digit.divisor > coefficient) continue;
    if (largest == nullptr || digit.divisor > largest->divisor) largest = &digit;
  }
  if (largest == nullptr) return coefficient;
  *run = largest->extent;
  return coefficient / largest->divisor * largest->stride;
}

// Like schedule::layout_of, without allocation. A layout with too many digits is left incomplete.
const TouchFinder::Digits& TouchFinder::digits_of(BufferIndex index) {
  Digits& digits = digits_[static_cast<size_t>(index)];
  if (has_digits_[static_cast<size_t>(index)] != 0) return digits;
  has_digits_[static_cast<size_t>(index)] = 1;
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

// For a guarded access: the share of the operator's iterations in which all indices are in bounds.
double TouchFinder::density_of(const Access& access) const {
  const Stage& stage = tree_->stage(access.stage);
  const te::Tensor& tensor = tree_->dag->tensor(tree_->buffer(access.buffer).tensor);
  double density = 1;
  for (size_t d = 0; d < access.rank; ++d) {
    const AccessDim& dim = tree_->dims[access.first_dim + d];
    if (!dim.affine) {
      const RegionDim& region = tree_->regions[access.first_dim + d];
      if (region.clipped) density *= region.guard_density;
      continue;
    }
    InlineVector<IndexTerm, arith::Affine::kMaxTerms> terms;
    for (const arith::Term& term : dim.index.terms) {
      terms.push_back({term.coefficient, full_extent(stage, term.var)});
    }
    density *=
        inside_share({terms.begin(), terms.size()}, dim.index.constant, tensor.shape[d].high);
  }
  return density;
}

int64_t TouchFinder::full_extent(const Stage& stage, size_t axis) const {
  const te::Op& op = tree_->dag->op(stage.op);
  const bool of_op = stage.kind == StageKind::Compute || stage.kind == StageKind::Partial;
  if (of_op && axis < op.axes.size()) return op.axes[axis].extent.high;
  if (of_op && axis - op.axes.size() < op.reduce_axes.size()) {
    return op.reduce_axes[axis - op.axes.size()].extent.high;
  }
  const te::Tensor& tensor = tree_->dag->tensor(tree_->buffer(stage.first_buffer).tensor);
  return axis < tensor.shape.size() ? tensor.shape[axis].high : tree_->var(stage.axes[axis]).extent;
}

}  // namespace tilewright::feature
