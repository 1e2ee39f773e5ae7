// The loops of a reduction that another nest computes by rows: sums of a few rows and vectors stay
// in registers.
//
//   C[i, j] += A[i, k] * B[k, j]   ->   j.0, i.0, k.0, k.1 unroll, i.1 unroll, j.1 vectorize
#pragma once

#include "space/layout_context.h"

namespace tilewright::space {

// Lays out the inner stage of `tiled` and fills in its levels and its lane. The caller's split
// splits the axis `rows` (-1: none); lanes come in tiles of at most `vectors` vectors.
void lay_out_sums(const LayoutContext& layout, TiledStage* tiled, int rows, int64_t vectors);

}  // namespace tilewright::space
