// The loops of a tiled stage: the outermost level is one parallel loop; the innermost level is in
// registers.
//
//   C  (i.0,j.0) parallel, i.1, j.1, k.0, k.1 unroll, i.2 unroll, j.2 vectorize     SSRS
#pragma once

#include "space/layout_context.h"

namespace tilewright::space {

// Order, threads and unrolling of both stages of `tiled`, and the attachment of the inner one.
// Returns the loop that threads share; an empty name if there is none.
Name lay_out_tiled(const LayoutContext& layout, const TiledStage& tiled);

}  // namespace tilewright::space
