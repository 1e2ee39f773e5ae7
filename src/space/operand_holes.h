// Holes for the operands of a tiled stage: packing constants in the order of access, copying other
// operands into that order, keeping small tiles in registers, prefetching the next tile.
//
//   C[i, j] += A[i, k] * B[k, j], B constant   ->   hole: nothing, or `pack B C`
#pragma once

#include "space/layout_context.h"

namespace tilewright::space {

// One hole per operand that has a choice. `threads`: the loop of the owner that threads share;
// copies are made there or in the owner's second level.
void add_operand_holes(const LayoutContext& layout, const TiledStage& tiled, Name threads);

}  // namespace tilewright::space
