// Variation: new genomes from old ones. Pure functions over a sketch; apply and space/validity
// decide whether what comes out is legal and fit.
#pragma once

#include "schedule/sketch.h"

namespace tilewright::space {

// Changes one or a few genes: mostly tile sizes (a factor moves from one level to another, or one
// level takes another size), now and then another kind of hole. False: there is nothing to mutate.
bool mutate(const schedule::Sketch& sketch, schedule::Genome* genome, Rng& rng);

// Each stage from one of the parents. False: they do not differ in two stages.
bool cross(const schedule::Sketch& sketch, const schedule::Genome& a, const schedule::Genome& b,
           Rng& rng, schedule::Genome* child);

}  // namespace tilewright::space
