// Regions: what an access touches while the loops outside some loop hold still.
//
//   X[y*2 + r], y = y.0*4 + y.1, r < 3, at y.0:  base 8*y.0, extent 1 + 2*3 + 1*2 = 9, stride 1
#pragma once

#include "schedule/loop_tree.h"

namespace tilewright::schedule {

// Fills one RegionDim a dimension. False, with the variable, when a fused-away variable is fixed
// only in part at that loop: then no affine base exists. at_stage kNone: nothing is outside.
[[nodiscard]] bool region_at(const LoopTree& tree, const Access& access, StageIndex at_stage,
                             VarIndex at, RegionDim* dims, VarIndex* partly);

// The region of every live access of a buffer that is not attached: all that is touched of it.
void set_root_regions(LoopTree& tree);

// Is the access one of its reader as it is now: not of an inlined stage, nor replaced by a step?
bool is_live(const LoopTree& tree, const Access& access);

// How many elements before its place the last tile of a split variable begins at most, when it
// overlaps the one before; 0 when it does not.
int64_t overlap_of(const LoopTree& tree, const LoopVar& var);

// The smallest region that holds both; the whole dimension when their bases move differently.
RegionDim hull_of(const RegionDim& a, const RegionDim& b);

// Where the loops that a variable is rebuilt from stand in its stage.
struct PositionRange {
  int first = 0;
  int last = 0;
};
PositionRange loop_positions(const LoopTree& tree, VarIndex var);

}  // namespace tilewright::schedule
