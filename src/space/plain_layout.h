// The loops of a stage that is not tiled: lanes along the axis that accesses like, a few rows
// beside them, the reductions between those and the outer loops.
//
//   Y[i, j] = 2 * X[i, j]   ->   i.0, i.1, j.0, j.1 vectorize, the factors of both splits as holes
#pragma once

#include <vector>

#include "space/layout_context.h"

namespace tilewright::space {

// A loop that the steps make, and its approximate number of iterations.
struct PlannedLoop {
  Name name;
  int64_t extent = 1;
};

struct PlainLoops {
  std::vector<PlannedLoop> lead;   // what a nest of rows shares; the last may be a block of them
  std::vector<PlannedLoop> outer;  // spatial loops outside of everything else, outside in
  Name block;                      // of rows, where a RowStage is computed; empty: none
  Name row;                        // inside of a block; empty: none
  int16_t row_step = -1;           // the split that made them
  Name lane;                       // empty: none
};

// What cuts the outer loops into blocks: the stage its rows, a stage that is computed by the same
// blocks, or, without rows, chunks for threads.
enum class RowBlocks : uint8_t { Own, Shared, Chunks };

// `lead`: number of leading axes that the nest of the stage shares.
PlainLoops lay_out_plain(const LayoutContext& layout, te::OpId op, int lead, RowBlocks blocks);

}  // namespace tilewright::space
