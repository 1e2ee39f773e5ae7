// The encoding `knobs`: the genome itself, one row per program, as AutoTVM's configuration features
// (Chen et al., NeurIPS 2018, section 3.2). Tile sizes are log2 of each level, outermost first; any
// other hole is the number of its choice. Columns are those of the holes of all sketches, one
// behind the other, with the sketch's number in front; a sketch leaves the others' at -1.
//
//   sketch 0: tiles [8, 2] of 64, unroll choice 3   ->  0  2 3 1  3  -1 ...
//
// Rows compare within one space only. A program is encoded by its genome, or, where only its trace
// is known, by the genome that instantiates to it.
#pragma once

#include "feature/encoding.h"

namespace tilewright::feature {

EncodingRow knobs_encoding();

}  // namespace tilewright::feature
