// Annotation: adds to a draft, as holes, everything that the rules leave open: parallel loops,
// lanes, unrolling, locations of small stages, copies and layouts of operands. A loop name never
// depends on a choice that another hole refers to: the outermost level of a tiled stage is
// always one fused loop, and tile sizes decide how much of each axis it covers.
#pragma once

#include "space/draft.h"

namespace tilewright::space {

schedule::Sketch annotate(const SpaceContext& context, Draft draft);

}  // namespace tilewright::space
