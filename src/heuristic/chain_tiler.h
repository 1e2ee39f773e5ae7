// Schedules a chain (chain_plan.h) as one loop nest: all members by blocks of rows of the root.
//
//   for (h,i.0) in parallel:  C[i.1, j]  M[i.1]  E[i.1, j]  S[i.1]  O[i.1, e]  Y[i.1, e]
#pragma once

#include "heuristic/chain_plan.h"
#include "heuristic/stage_tiler.h"

namespace tilewright::heuristic {

// `tiler` lays out the members that are not products. False if the root cannot have such loops.
bool tile_chain(Tiling& tiling, StageTiler& tiler, const Chain& chain);

}  // namespace tilewright::heuristic
