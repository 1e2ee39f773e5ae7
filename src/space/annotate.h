// Annotation: what the rules left open is added to a draft, as holes: which loops threads share,
// which are lanes, what is unrolled, where small stages are computed, which operands are copied or
// laid out anew. Names of loops never depend on a hole that another hole's choice would have to
// know: the outermost level of a tiled stage is always one fused loop, and how much of each axis it
// takes is a matter of tile sizes.
#pragma once

#include "space/draft.h"

namespace tilewright::space {

schedule::Sketch annotate(const SpaceContext& context, Draft draft);

}  // namespace tilewright::space
