// How a stage is cut into tiles of one shape: the splits, their holes, and which loop is of which
// level. The rules say which shapes there are.
#pragma once

#include <string>

#include "space/draft.h"

namespace tilewright::space {

struct TileShape {
  std::string structure;
  int level = 0;                  // spatial levels of the owner; 0: not fused
  int lane = heuristic::kNoAxis;  // position in Stage::axes
  bool phased = false;            // parts by the divisor of a quotient are loops of their own
};

// `tree` has what the draft inlines inlined. The owner is the stage itself when it is not fused.
void tile_stage(const SpaceContext& context, Draft& draft, const schedule::LoopTree& tree,
                StageName inner, StageName owner, const TileShape& shape);

}  // namespace tilewright::space
