// Stages that multiply by entries of constant matrices, such as Winograd's transforms. The axes
// that select an entry have the hint simplify_const_index; the entries fold once these axes are
// unrolled.
//
//   V[a, b, p, c] += B[ra, a] B[rb, b] T[ra, rb, p, c]
//   for (p) in parallel:  for c.0:  unroll a, b, ra, rb:  vectorize c.1 < 16
#pragma once

#include <vector>

#include "heuristic/tiling.h"

namespace tilewright::heuristic {

// The loops of such axes of a stage that no step has split.
struct HintedLoops {
  std::vector<Name> spatial, folded;  // the folded ones reduce
  int64_t copies = 1;                 // copies of the body if all of them are unrolled
};
HintedLoops hinted_loops(const schedule::LoopTree& tree, const schedule::Stage& stage);

// `axis` is an index in Stage::axes of the stage of `op`.
bool is_hinted(const te::Op& op, size_t axis);

// The steps that write out a whole transform in each iteration of `outer`: its other loops
// unrolled, `lane` vectorized.
std::vector<schedule::Step> written_out(const schedule::LoopTree& tree,
                                        const schedule::Stage& stage,
                                        const std::vector<Name>& outer, Name lane);

// For a stage at root that reduces only over such axes: computes the whole transform of one tile
// for a vector of channels, if the code does not get too large. False: nothing was done.
bool tile_transform(Tiling& tiling, schedule::StageIndex stage);

// Unrolls such axes of any stage, as many as the code size permits on top of what is unrolled
// already.
void unroll_constants(Tiling& tiling, schedule::StageIndex stage);

}  // namespace tilewright::heuristic
