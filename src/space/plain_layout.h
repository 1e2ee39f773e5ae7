// The loops of a stage that is not tiled. From the outside in: spatial loops, reductions, a few
// unrolled rows, and lanes along the axis that suits the accesses best (heuristic/axis_roles.h).
//
//   Y[i, j] = 2 * X[i, j]   ->   i.0, i.1, j.0, j.1 vectorize, the factors of both splits as holes
#pragma once

#include <span>
#include <vector>

#include "space/layout_context.h"

namespace tilewright::space {

// A loop that the steps make, and its approximate number of iterations.
struct PlannedLoop {
  Name name;
  int64_t extent = 1;
};

struct PlainLoops {
  std::vector<PlannedLoop> lead;   // shared with the nest of rows; the last may be a row block
  std::vector<PlannedLoop> outer;  // spatial loops outside of everything else, outside in
  Name block;                      // of rows, where a RowStage is computed; empty: none
  Name row;                        // inside of a block; empty: none
  int16_t row_step = -1;           // the split into block and row
  Name lane;                       // empty: none
};

// How the outer loops are split into blocks.
enum class RowBlocks : uint8_t {
  Own,     // blocks of rows, for this stage
  Shared,  // blocks of rows that another stage is computed by as well
  Chunks,  // no rows: chunks for threads
};

// `lead`: number of leading axes that the nest of the stage shares. `sides`: per axis, the side of
// the tiles into which it is cut, unrolled; 0, or no entry: none.
PlainLoops lay_out_plain(const LayoutContext& layout, te::OpId op, int lead, RowBlocks blocks,
                         std::span<const int64_t> sides = {});

}  // namespace tilewright::space
