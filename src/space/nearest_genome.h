// nearest_genome: converts a schedule of a similar task to a genome of this one. Both tasks have
// the same operators, names and axes; their extents may differ. Steps are matched without their
// sizes, then each tile size becomes the nearest one that this task has.
//
//   donor, extent 512   split C i [64, 8]     384: [48, 8], all rows in one tile again
//   donor, extent 56    split Y x [1, 14]     28: [1, 14]    7: [1, 7]    30: [1, 15] divides
//
// Pure functions. The genome may be illegal; apply and space/validity decide that.
#pragma once

#include <optional>
#include <span>

#include "schedule/sketch.h"

namespace tilewright::space {

struct SketchGenome {
  uint16_t sketch = 0;  // index among the sketches
  schedule::Genome genome;
};

// The genome of the sketch that has most of the donor's steps; empty if none has two thirds of
// them. `same_extents`: the donor's task has the same extents, so that its own sizes are the best;
// otherwise sizes that divide are preferred.
std::optional<SketchGenome> nearest_genome(std::span<const schedule::Sketch> sketches,
                                           const schedule::Trace& donor, bool same_extents = false);

}  // namespace tilewright::space
