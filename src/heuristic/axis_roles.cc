#include "heuristic/axis_roles.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/rounding.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

int64_t extent_of(const LoopTree& tree, const Stage& stage, size_t axis) {
  return tree.var(stage.axes[axis]).extent;
}

// 16-bit floats are computed in 32 bits.
int lane_bytes(ir::Scalar element) {
  const bool narrow_float = element == ir::Scalar::F16 || element == ir::Scalar::BF16;
  return narrow_float ? 4 : ir::bytes_of(element);
}

// The effect of a step of the axis on the quotients of an index.
void add_quotients(const LoopTree& tree, const AccessDim& dim, uint32_t axis, AccessStride& walk) {
  for (const arith::Term& term : dim.index.terms) {
    if (term.var < te::kFirstQuotient) continue;
    const te::Quotient& quotient = tree.quotients[term.var - te::kFirstQuotient];
    const int64_t step = quotient.of.coefficient_of(axis);
    if (step == 0) continue;
    const bool alone = quotient.of.terms.size() == 1 && quotient.of.constant == 0;
    const int64_t run = alone && step == 1 ? quotient.divisor : 1;
    walk.run = walk.run == 0 ? run : std::gcd(walk.run, run);
    walk.depends = true;
    walk.known = false;
  }
}

// How often the spatial axes of a stage read an element.
double uses_of(const LoopTree& tree, const Stage& stage, const Access& access) {
  double uses = 1;
  for (size_t axis = 0; axis < stage.axes.size(); ++axis) {
    if (is_reduced(tree, stage, axis)) continue;
    const bool depends = access_stride(tree, access, axis).depends;
    const int64_t phases = depends ? phases_of(tree, access, axis) : 1;
    if (phases > 0) uses *= static_cast<double>(ceil_div(extent_of(tree, stage, axis), phases));
  }
  return uses;
}

// Constants are copied when the model is prepared, from any order.
bool is_packable(const LoopTree& tree, const Access& access) {
  if (tree.buffer(access.buffer).is_constant) {
    const auto dims = std::span(tree.dims).subspan(access.first_dim, access.rank);
    return std::ranges::all_of(dims, [](const AccessDim& d) { return d.affine || d.quasi_affine; });
  }
  for (size_t d = access.first_dim; d < access.first_dim + size_t{access.rank}; ++d) {
    const AccessDim& dim = tree.dims[d];
    if (!dim.affine || dim.index.constant != 0 || dim.index.terms.size() > 1) return false;
    if (!dim.index.terms.empty() && dim.index.terms[0].coefficient != 1) return false;
  }
  return true;
}

class RoleFinder {
 public:
  RoleFinder(const LoopTree& tree, StageIndex index, const Target& target, bool may_pack)
      : tree_(tree), stage_(tree.stage(index)), target_(target), may_pack_(may_pack) {
    for (size_t axis = 0; axis < stage_.axes.size(); ++axis) {
      if (!is_reduced(tree_, stage_, axis)) spatial_ = axis + 1;
    }
  }

  AxisRoles run() {
    roles_.element_bytes = lane_bytes(tree_.buffer(stage_.first_buffer).element);
    for (const Access& access : tree_.reads_of(stage_)) {
      roles_.element_bytes =
          std::max(roles_.element_bytes, lane_bytes(tree_.buffer(access.buffer).element));
    }
    find_batch();
    find_vector();
    if (!roles_.has_vector()) return roles_;
    roles_.vector_run = run_of(static_cast<size_t>(roles_.vector));
    find_rows();
    find_outside();
    if (spatial_ == stage_.axes.size()) find_across();
    return roles_;
  }

 private:
  void find_batch() {
    for (size_t axis = 0; axis < spatial_; ++axis) {
      bool everywhere = store_stride(tree_, stage_, axis).depends && stage_.accesses > 1;
      for (const Access& access : tree_.reads_of(stage_)) {
        everywhere = everywhere && access_stride(tree_, access, axis).depends &&
                     phases_of(tree_, access, axis) == 0;
      }
      if (everywhere) roles_.batch.push_back(static_cast<int>(axis));
    }
  }

  bool is_reused(const Access& access) const { return uses_of(tree_, stage_, access) >= 8; }

  int64_t run_of(size_t axis) const {
    int64_t run = 0;
    for (const Access& access : tree_.reads_of(stage_)) {
      run = std::gcd(run, std::max<int64_t>(0, access_stride(tree_, access, axis).run));
    }
    return run > 1 ? run : 0;
  }

  // Memory operations per element if the axis is vectorized.
  double cost_of(size_t axis) const {
    const auto extent = static_cast<double>(extent_of(tree_, stage_, axis));
    const int64_t run = run_of(axis);
    const double within = run == 0 ? extent : static_cast<double>(std::min(run, int64_t{1} << 20));
    const double lanes = std::min({double(target_.lanes(roles_.element_bytes)), extent, within});
    double cost = 0;
    for (const Access& access : tree_.reads_of(stage_)) {
      const AccessStride walk = access_stride(tree_, access, axis);
      const bool packs = may_pack_ && is_packable(tree_, access) && is_reused(access);
      cost += !walk.depends || walk.is_contiguous() || walk.run > 1 || packs ? 1 / lanes : 1;
    }
    if (is_reduced(tree_, stage_, axis)) return cost + 4 / extent;  // lanes are folded at the end
    double folds = 1;
    for (size_t k = spatial_; k < stage_.axes.size(); ++k) {
      folds *= static_cast<double>(extent_of(tree_, stage_, k));
    }
    const bool contiguous = store_stride(tree_, stage_, axis).is_contiguous();
    return cost + (contiguous ? 1 / lanes : 1) / folds;
  }

  void find_vector() {
    const te::Op& op = tree_.dag->op(stage_.op);
    const bool folds_lanes = op.has_reduction() && op.reduction->simple_op().has_value() &&
                             (tree_.reassociate || !ir::is_float(op.body[0].type()));
    double least = 0.75 * (1 + stage_.accesses);  // the cost of scalar code
    for (size_t k = stage_.axes.size(); k-- > 0;) {
      if (extent_of(tree_, stage_, k) < 2) continue;
      if (is_reduced(tree_, stage_, k) && !folds_lanes) continue;
      const double cost = cost_of(k);
      const bool better = is_reduced(tree_, stage_, k) || !roles_.vector_reduces
                              ? cost < least
                              // No folding of lanes if the costs are about equal.
                              : cost < 1.5 * least;
      if (!better) continue;
      least = cost;
      roles_.vector = static_cast<int>(k);
      roles_.vector_reduces = is_reduced(tree_, stage_, k);
    }
  }

  // The innermost spatial axes that some load along the vector does not depend on: rows for one
  // load, columns for another.
  void find_rows() {
    const auto vector = static_cast<size_t>(roles_.vector);
    for (size_t axis = spatial_; axis-- > 0;) {
      if (axis == vector || extent_of(tree_, stage_, axis) < 2) continue;
      const bool repeats = std::ranges::any_of(tree_.reads_of(stage_), [&](const Access& access) {
        const auto depends = [&](size_t on) { return access_stride(tree_, access, on).depends; };
        const bool is_other = roles_.rows == kNoAxis || depends(static_cast<size_t>(roles_.rows));
        return depends(vector) && !depends(axis) && is_other;
      });
      if (!repeats) continue;
      int& role = roles_.rows == kNoAxis ? roles_.rows : roles_.columns;
      role = static_cast<int>(axis);
      if (!roles_.vector_reduces || roles_.columns != kNoAxis) return;
    }
  }

  void find_outside() {
    if (roles_.rows == kNoAxis || roles_.vector_reduces) return;
    double still = 0;
    double moving = 0;
    for (const Access& access : tree_.reads_of(stage_)) {
      if (!access_stride(tree_, access, static_cast<size_t>(roles_.vector)).depends) continue;
      const bool moves = access_stride(tree_, access, static_cast<size_t>(roles_.rows)).depends;
      (moves ? moving : still) += elements_of(tree_, access);
    }
    roles_.vector_outside = still >= moving;
  }

  void find_across() {
    const auto vector = static_cast<size_t>(roles_.vector);
    for (const Access& access : tree_.reads_of(stage_)) {
      const AccessStride walk = access_stride(tree_, access, vector);
      if (!walk.depends || walk.is_contiguous()) continue;
      for (size_t axis = 0; axis < spatial_; ++axis) {
        if (axis == vector || extent_of(tree_, stage_, axis) < 2) continue;
        if (access_stride(tree_, access, axis).is_contiguous())
          roles_.across = static_cast<int>(axis);
      }
    }
  }

  const LoopTree& tree_;
  const Stage& stage_;
  const Target& target_;
  bool may_pack_;
  size_t spatial_ = 0;  // spatial axes come first
  AxisRoles roles_;
};

}  // namespace

AccessStride access_stride(const LoopTree& tree, const Access& access, size_t axis) {
  const Buffer& buffer = tree.buffer(access.buffer);
  AccessStride walk;
  int64_t row = 1;
  for (size_t d = access.rank; d-- > 0;) {
    const AccessDim& dim = tree.dims[access.first_dim + d];
    if (!dim.affine && !dim.quasi_affine) {
      // A data-dependent index rarely varies along an inner axis that is traversed contiguously.
      const bool innermost = d + 1 == access.rank;
      walk.depends |= innermost;
      walk.known &= !innermost;
    } else {
      const int64_t coefficient = dim.index.coefficient_of(static_cast<uint32_t>(axis));
      walk.depends |= coefficient != 0;
      walk.stride += coefficient * row;
      add_quotients(tree, dim, static_cast<uint32_t>(axis), walk);
    }
    if (d < buffer.extent.size()) row *= buffer.storage_shape()[d];
  }
  if (walk.stride != 0) walk.run = 0;
  return walk;
}

int64_t phases_of(const LoopTree& tree, const Access& access, size_t axis) {
  int64_t phases = 1;
  for (size_t d = 0; d < access.rank; ++d) {
    const AccessDim& dim = tree.dims[access.first_dim + d];
    if (!dim.affine && !dim.quasi_affine) return 0;
    for (const arith::Term& term : dim.index.terms) {
      if (term.var == axis) return 0;
      if (term.var < te::kFirstQuotient) continue;
      const te::Quotient& quotient = tree.quotients[term.var - te::kFirstQuotient];
      if (quotient.of.coefficient_of(static_cast<uint32_t>(axis)) == 0) continue;
      if (quotient.divisor != 1 || quotient.modulus == 0) return 0;
      phases = std::lcm(phases, quotient.modulus);
      if (phases > kMaxPhases) return 0;
    }
  }
  return phases;
}

AccessStride store_stride(const LoopTree& tree, const Stage& stage, size_t axis) {
  const Buffer& buffer = tree.buffer(stage.first_buffer);
  AccessStride walk;
  int64_t row = 1;
  for (size_t d = stage.dims.size(); d-- > 0;) {
    if (stage.dims[d] == stage.axes[axis]) {
      walk.depends = true;
      walk.stride = row;
    }
    if (d < buffer.extent.size()) row *= buffer.storage_shape()[d];
  }
  return walk;
}

AxisRoles axis_roles(const LoopTree& tree, StageIndex stage, const Target& target, bool may_pack) {
  return RoleFinder(tree, stage, target, may_pack).run();
}

double elements_of(const LoopTree& tree, const Access& access) {
  double elements = 1;
  for (const int64_t extent : tree.buffer(access.buffer).extent) {
    elements *= static_cast<double>(extent);
  }
  return elements;
}

double iterations_of(const LoopTree& tree, const Stage& stage) {
  double product = 1;
  for (const VarIndex axis : stage.axes) product *= static_cast<double>(tree.var(axis).extent);
  return product;
}

bool is_heavy(const LoopTree& tree, StageIndex index) {
  const Stage& stage = tree.stage(index);
  const te::Op& op = tree.dag->op(stage.op);
  if (!op.has_reduction() || stage.kind != StageKind::Compute) return false;
  return std::ranges::any_of(tree.reads_of(stage), [&](const Access& access) {
    return uses_of(tree, stage, access) >= 4;
  });
}

}  // namespace tilewright::heuristic
