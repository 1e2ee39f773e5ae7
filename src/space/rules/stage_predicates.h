// What several rules ask about a stage. Pure functions.
#pragma once

#include "space/draft.h"

namespace tilewright::space {

// The one stage that takes a stage element by element, through what is inlined; an empty name when
// there is none, or when both reduce.
StageName elementwise_reader(const SpaceContext& context, const Draft& draft, StageName stage);

// True if the stage should be tiled: its operator reuses elements, and no rule has written steps
// for it.
bool needs_tiles(const SpaceContext& context, StageName stage);

}  // namespace tilewright::space
