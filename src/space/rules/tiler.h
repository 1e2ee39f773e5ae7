// Tiles a stage by one tile structure: writes the splits and their holes, and records the level of
// each loop. The rules choose the structures.
#pragma once

#include <string>

#include "space/draft.h"

namespace tilewright::space {

struct TileShape {
  std::string structure;
  int level = 0;                  // spatial levels of the owner; 0: not fused
  int lane = heuristic::kNoAxis;  // position in Stage::axes
  bool phased = false;            // parts by the divisor of a quotient are separate loops
};

// `tree` has the draft's inlined stages inlined. The owner is the stage itself if it is not fused.
void tile_stage(const SpaceContext& context, Draft& draft, const schedule::LoopTree& tree,
                StageName inner, StageName owner, const TileShape& shape);

}  // namespace tilewright::space
