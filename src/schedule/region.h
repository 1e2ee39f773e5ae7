// Regions: the elements that an access touches while the loops outside a given loop are fixed.
//
//   X[y*2 + r], y = y.0*4 + y.1, r < 3, at y.0:  base 8*y.0, extent 1 + 2*3 + 1*2 = 9, stride 1
#pragma once

#include "schedule/loop_tree.h"

namespace tilewright::schedule {

// Whether the terminal variable `var` is fixed during one iteration of loop `at` of stage
// `at_stage`. Partly: some loops of its fusion are outside.
enum class Outside : uint8_t { No, Yes, Partly };
Outside is_outside(const LoopTree& tree, VarIndex var, StageIndex at_stage, VarIndex at);

// True if `stage` is computed within one iteration of loop `at` of `at_stage`, or is that stage.
bool is_within(const LoopTree& tree, StageIndex stage, StageIndex at_stage, VarIndex at);

// The region of an access while the loops outside loop `at` of stage `at_stage` are fixed (kNone:
// the whole region). All dimensions are whole if a fused variable is only partly fixed there.
void region_of(const LoopTree& tree, const Access& access, StageIndex at_stage, VarIndex at,
               RegionDim* dims);

// Fills one RegionDim per dimension. False, with the variable, if a fused variable is only partly
// fixed at that loop: then there is no affine base. at_stage kNone: no loop is outside.
[[nodiscard]] bool region_at(const LoopTree& tree, const Access& access, StageIndex at_stage,
                             VarIndex at, RegionDim* dims, VarIndex* partly);

// Sets the region of every live access to a buffer at root: all elements touched.
void set_root_regions(LoopTree& tree);

// False for accesses of inlined stages and those that a step replaced.
bool is_live(const LoopTree& tree, const Access& access);

// The largest number of elements by which the last tile of a split variable starts early because it
// overlaps the tile before; 0 if it does not.
int64_t overlap_of(const LoopTree& tree, const LoopVar& var);

// The smallest region that contains both; the whole dimension if their bases differ in more than a
// constant.
RegionDim hull_of(const RegionDim& a, const RegionDim& b);

// The positions, in its stage, of the loops that a variable is computed from.
struct PositionRange {
  int first = 0;
  int last = 0;
};
PositionRange loop_positions(const LoopTree& tree, VarIndex var);

}  // namespace tilewright::schedule
