// The encoding `knobs`: the genome, one row per program, like AutoTVM's configuration features
// (Chen et al., NeurIPS 2018, section 3.2). Tile sizes are log2 of each level, outermost first; any
// other hole is the index of its choice. The first column is the index of the sketch; the holes of
// all sketches follow. Columns of other sketches are -1.
//
//   sketch 0: tiles [8, 2] of 64, unroll choice 3   ->  0  2 3 1  3  -1 ...
//
// Rows are comparable only within one space. A program is encoded by its genome, or, if only its
// trace is known, by the genome that instantiates to it.
#pragma once

#include "feature/encoding.h"

namespace tilewright::feature {

EncodingRow knobs_encoding();

}  // namespace tilewright::feature
