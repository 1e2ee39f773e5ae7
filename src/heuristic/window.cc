#include "heuristic/window.h"

#include <algorithm>

#include "base/rounding.h"
#include "heuristic/nest_plan.h"
#include "heuristic/tile_sizes.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

constexpr int64_t kLargestLightWindow = 25;  // taps that are unrolled next to each other
constexpr int64_t kWidestTap = 3;            // more taps meet more borders, each with its own code
constexpr int64_t kFewestOthers = 16;  // below, the copies of the nest cost more than a border

void add_once(std::vector<int>& axes, size_t axis) {
  if (std::ranges::count(axes, static_cast<int>(axis)) == 0) axes.push_back(static_cast<int>(axis));
}

// True if the index changes with the axis, directly or within a quotient.
bool depends_on(const LoopTree& tree, const AccessDim& dim, size_t axis) {
  const auto var = static_cast<uint32_t>(axis);
  return std::ranges::any_of(dim.index.terms, [&](const arith::Term& term) {
    if (term.var < te::kFirstQuotient) return term.var == var;
    return tree.quotients[term.var - te::kFirstQuotient].of.coefficient_of(var) != 0;
  });
}

// The only operand has the same dimensions, some of them shorter.
bool is_border(const LoopTree& tree, const Stage& stage) {
  const te::Op& op = tree.dag->op(stage.op);
  if (stage.kind != StageKind::Compute || op.has_reduction() || op.body.size() != 1) return false;
  if (op.body[0].kind() != ir::ExprKind::Select || stage.accesses != 1) return false;
  const Access& access = tree.reads_of(stage)[0];
  return access.guarded && access.rank == stage.dims.size();
}

bool is_padded(const LoopTree& tree, const Stage& border, size_t dim) {
  const Buffer& operand = tree.buffer(tree.reads_of(border)[0].buffer);
  return tree.buffer(border.first_buffer).extent[dim] != operand.extent[dim];
}

// True if most elements are those of the border, so that computing with them is mostly wasted.
bool is_mostly_border(const LoopTree& tree, const Stage& border) {
  const Buffer& operand = tree.buffer(tree.reads_of(border)[0].buffer);
  double share = 1;
  for (size_t dim = 0; dim < border.dims.size(); ++dim) {
    share *= static_cast<double>(operand.extent[dim]) /
             static_cast<double>(tree.buffer(border.first_buffer).extent[dim]);
  }
  return share < 0.5;
}

// True if no lane of the reader is on the border while another is not.
bool lanes_stay_inside(const LoopTree& tree, const Stage& border, const Access& access, int lanes) {
  for (size_t d = 0; d < access.rank; ++d) {
    if (!is_padded(tree, border, d)) continue;
    const AccessDim& dim = tree.dims[access.first_dim + d];
    if (!dim.affine && !dim.quasi_affine) return false;
    if (depends_on(tree, dim, static_cast<size_t>(lanes))) return false;
  }
  return true;
}

// The axes of one index, if it depends on spatial axes and on reduce axes.
void add_shifts(const LoopTree& tree, const Stage& stage, const AccessDim& dim, Window& window) {
  std::vector<size_t> spatial, reduced;
  for (size_t axis = 0; axis < stage.axes.size(); ++axis) {
    if (depends_on(tree, dim, axis)) {
      (is_reduced(tree, stage, axis) ? reduced : spatial).push_back(axis);
    }
  }
  if (spatial.empty() || reduced.empty()) return;
  for (const size_t axis : spatial) add_once(window.slides, axis);
  for (const size_t axis : reduced) add_once(window.taps, axis);
}

}  // namespace

Window window_of(const LoopTree& tree, StageIndex index) {
  const Stage& stage = tree.stage(index);
  Window window;
  for (const Access& access : tree.reads_of(stage)) {
    for (size_t d = 0; d < access.rank; ++d) {
      const AccessDim& dim = tree.dims[access.first_dim + d];
      if (dim.affine || dim.quasi_affine) add_shifts(tree, stage, dim, window);
    }
  }
  for (size_t axis = 0; axis < stage.axes.size(); ++axis) {
    if (!is_reduced(tree, stage, axis)) continue;
    const int64_t extent = tree.var(stage.axes[axis]).extent;
    if (std::ranges::count(window.taps, static_cast<int>(axis)) == 0) {
      window.others *= extent;
    } else {
      window.size *= extent;
      window.widest = std::max(window.widest, extent);
    }
  }
  std::ranges::sort(window.taps);
  std::ranges::sort(window.slides);
  return window;
}

bool is_light_window(const LoopTree& tree, StageIndex index, const Target& target) {
  const Stage& stage = tree.stage(index);
  const te::Op& op = tree.dag->op(stage.op);
  if (stage.kind != StageKind::Compute || !op.has_reduction() || op.outputs.size() != 1) {
    return false;
  }
  const Window window = window_of(tree, index);
  if (window.empty() || window.others > 1 || window.size > kLargestLightWindow) return false;
  const AxisRoles roles = axis_roles(tree, index, target, false);
  return roles.has_vector() && !roles.vector_reduces &&
         std::ranges::count(window.slides, roles.vector) == 0;
}

int window_rows(const LoopTree& tree, StageIndex index, const AxisRoles& roles) {
  if (roles.rows != kNoAxis) return roles.rows;
  const Window window = window_of(tree, index);
  for (size_t k = window.slides.size(); k-- > 0;) {
    const int axis = window.slides[k];
    if (axis != roles.vector &&
        tree.var(tree.stage(index).axes[static_cast<size_t>(axis)]).extent > 1) {
      return axis;
    }
  }
  return kNoAxis;
}

int phased_axis(const LoopTree& tree, StageIndex index, const AxisRoles& roles) {
  const Stage& stage = tree.stage(index);
  if (!roles.has_vector()) return kNoAxis;
  for (size_t axis = stage.dims.size(); axis-- > 0;) {
    const auto role = static_cast<int>(axis);
    if (role == roles.vector || role == roles.rows || tree.var(stage.axes[axis]).extent < 2) {
      continue;
    }
    for (const Access& access : tree.reads_of(stage)) {
      if (access_stride(tree, access, static_cast<size_t>(roles.vector)).depends &&
          phases_of(tree, access, axis) > 1) {
        return role;
      }
    }
  }
  return kNoAxis;
}

RegisterTile window_tile(const LoopTree& tree, StageIndex index, const AxisRoles& roles,
                         const Target& target, const TileStyle& style) {
  if (!style.vectors) return choose_tile(tree, index, roles, target, style);
  const auto extent = [&](int axis) {
    return tree.var(innermost_part(tree, tree.stage(index).axes[static_cast<size_t>(axis)])).extent;
  };
  const int lanes = target.lanes(roles.element_bytes);
  RegisterTile tile;
  const int64_t length = extent(roles.vector);
  tile.vector = length <= 2 * lanes ? length : length % lanes == 0 ? lanes : 2 * lanes;
  const int rows = window_rows(tree, index, roles);
  if (rows == kNoAxis) return tile;
  const int64_t most =
      std::max<int64_t>(1, sums_in_registers(target) / 2 / ceil_div(tile.vector, lanes));
  tile.rows =
      extent(rows) <= most ? extent(rows) : divisor_within(extent(rows), (most + 1) / 2, most);
  return tile;
}

bool pays_inlined_border(const LoopTree& tree, StageIndex index, const Target& target) {
  const Stage& border = tree.stage(index);
  if (!is_border(tree, border)) return false;
  const auto reads = accesses_to(tree, index);
  return !reads.empty() && std::ranges::all_of(reads, [&](const Access* access) {
    const bool light = is_light_window(tree, access->stage, target);
    const Window window = window_of(tree, access->stage);
    const bool wide = window.widest > kWidestTap && !is_mostly_border(tree, border);
    if (!light && (window.empty() || wide || window.others < kFewestOthers ||
                   !is_heavy(tree, access->stage))) {
      return false;
    }
    const AxisRoles roles = axis_roles(tree, access->stage, target, !light);
    return roles.has_vector() && !roles.vector_reduces &&
           lanes_stay_inside(tree, border, *access, roles.vector);
  });
}

bool reads_inlined_border(const LoopTree& tree, StageIndex index) {
  const auto reads = tree.reads_of(tree.stage(index));
  return std::ranges::any_of(reads, [&](const Access& access) {
    return access.guarded && access.via != kNone && access.via != index;
  });
}

}  // namespace tilewright::heuristic
