// Windows: the reduce axes that shift a spatial axis of an operand, as in convolutions and pooling,
// and the borders that are added for them. The rules look at accesses, not at names. Pure
// functions.
//
//   P[y, c] = select(1 <= y < 9, X[y - 1, c], 0)                  a border of the spatial axis y
//   Y[y, c] = sum over r < 3, k of P[y + r, k] * W[r, k, c]       window r, other reduce axes k
#pragma once

#include <cstdint>
#include <vector>

#include "heuristic/register_tile.h"

namespace tilewright::heuristic {

struct Window {
  std::vector<int> taps{};    // indices in Stage::axes
  std::vector<int> slides{};  // the spatial axes that they shift
  int64_t size = 1;           // product of the extents of the taps
  int64_t widest = 1;         // the largest extent of a tap
  int64_t others = 1;         // product of the extents of the other reduce axes

  bool empty() const { return taps.empty(); }
};

Window window_of(const schedule::LoopTree& tree, schedule::StageIndex stage);

// True for a reduction over a small window and nothing else, whose accumulators fit into registers:
// depthwise convolutions and pooling.
bool is_light_window(const schedule::LoopTree& tree, schedule::StageIndex stage,
                     const Target& target);

// The axis that repeats in registers: the row axis of the roles, else the innermost axis that a
// window slides along. kNoAxis: there is none.
int window_rows(const schedule::LoopTree& tree, schedule::StageIndex stage, const AxisRoles& roles);

// The innermost axis without a role along which an operand of the lanes repeats after a few steps,
// as the weights of a transposed convolution do: W[(x + 1) mod 2 + 2 t, c]. kNoAxis: there is none.
int phased_axis(const schedule::LoopTree& tree, schedule::StageIndex stage, const AxisRoles& roles);

// The register tile of a light window: few accumulators, because the taps share the registers.
RegisterTile window_tile(const schedule::LoopTree& tree, schedule::StageIndex stage,
                         const AxisRoles& roles, const Target& target, const TileStyle& style);

// True if the stage adds a border to its only operand, and conditions in its readers cost less than
// the stage: the lanes do not cross the border, and few taps do.
bool pays_inlined_border(const schedule::LoopTree& tree, schedule::StageIndex stage,
                         const Target& target);

// True if an operand is read through an inlined border.
bool reads_inlined_border(const schedule::LoopTree& tree, schedule::StageIndex stage);

}  // namespace tilewright::heuristic
