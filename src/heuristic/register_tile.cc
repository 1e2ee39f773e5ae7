#include "heuristic/register_tile.h"

#include <algorithm>
#include <numeric>

#include "base/rounding.h"
#include "heuristic/tile_sizes.h"

namespace tilewright::heuristic {

using namespace schedule;  // NOLINT(google-build-using-namespace): a file about its trees

namespace {

// Up to `limit` of an axis; parts of equal size where it can be.
int64_t some_of(int64_t extent, int64_t limit) {
  return extent <= limit ? extent : divisor_within(extent, (limit + 1) / 2, limit);
}

}  // namespace

VarIndex innermost_part(const LoopTree& tree, VarIndex var) {
  while (tree.var(var).is_split()) {
    var = static_cast<VarIndex>(tree.var(var).first_part + tree.var(var).parts - 1);
  }
  return var;
}

RegisterTile choose_tile(const LoopTree& tree, StageIndex index, const AxisRoles& roles,
                         const Target& target, const TileStyle& style) {
  RegisterTile tile;
  if (!roles.has_vector()) return tile;
  const Stage& stage = tree.stage(index);
  const auto extent = [&](int axis) {
    return tree.var(innermost_part(tree, stage.axes[static_cast<size_t>(axis)])).extent;
  };
  const bool has_rows = roles.rows != kNoAxis && !roles.vector_reduces;
  if (!style.vectors) {
    tile.vector = std::min<int64_t>(4, extent(roles.vector));
    if (has_rows) tile.rows = std::min<int64_t>(3, extent(roles.rows));
    return tile;
  }
  const int lanes = target.lanes(roles.element_bytes);
  const int64_t length = roles.vector_run > 0 ? std::min(roles.vector_run, extent(roles.vector))
                                              : extent(roles.vector);
  if (roles.vector_reduces && roles.rows != kNoAxis && !style.small) {
    constexpr int64_t kMaxTileRows = 4;
    constexpr int64_t kMaxTileColumns = 8;
    tile.vector = vector_tile(length, lanes, 1);
    tile.rows = some_of(extent(roles.rows), kMaxTileRows);
    if (roles.columns == kNoAxis) return tile;
    const int64_t limit = std::min(kMaxTileColumns, sums_in_registers(target) / tile.rows);
    tile.columns = some_of(extent(roles.columns), std::max<int64_t>(1, limit));
    return tile;
  }
  tile.vector = vector_tile(length, lanes, style.small ? 1 : has_rows ? 2 : 4);
  if (roles.vector_run > 0) tile.vector = std::gcd(tile.vector, roles.vector_run);
  if (has_rows) {
    const int64_t vectors = ceil_div(tile.vector, lanes);
    const int64_t most =
        style.small ? 6 : std::max<int64_t>(1, sums_in_registers(target) / vectors);
    const int64_t rows = extent(roles.rows);
    tile.rows = rows <= most ? rows : divisor_within(rows, most / 2, std::min<int64_t>(most, 14));
  }
  if (roles.across != kNoAxis) tile.vector = std::min(tile.vector, kAcross);
  return tile;
}

}  // namespace tilewright::heuristic
