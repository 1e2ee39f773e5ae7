// Stages that multiply by entries of constant matrices, as Winograd's transforms do: the axes that
// choose an entry have the hint simplify_const_index, and fold once they are written out.
//
//   V[a, b, p, c] += B[ra, a] B[rb, b] T[ra, rb, p, c]
//   for (p) in parallel:  for c.0:  unroll a, b, ra, rb:  vectorize c.1 < 16
#pragma once

#include "heuristic/tiling.h"

namespace tilewright::heuristic {

// A stage at root that only such axes reduce: all of the transform of one place for a vector of it,
// where the code bears it. False: nothing was done.
bool tile_transform(Tiling& tiling, schedule::StageIndex stage);

// Unrolls such axes of any stage, as many as the code bears beside what is unrolled already.
void unroll_constants(Tiling& tiling, schedule::StageIndex stage);

}  // namespace tilewright::heuristic
