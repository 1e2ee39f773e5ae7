// Predicates on stages that several rules share. Pure functions.
#pragma once

#include "space/draft.h"

namespace tilewright::space {

// The only stage that reads a stage elementwise, directly or through inlined stages. An empty name
// if there is none, or if both are reductions.
StageName elementwise_reader(const SpaceContext& context, const Draft& draft, StageName stage);

// True if the stage should be tiled: its operator reuses elements, and no rule has written steps
// for it.
bool needs_tiles(const SpaceContext& context, StageName stage);

}  // namespace tilewright::space
