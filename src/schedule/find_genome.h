// find_genome: the inverse of instantiate.
//
//   sketch  split C i ?  with choices [1] [2] [4]      trace  split C i [4]      -> genome {2}
#pragma once

#include <optional>

#include "schedule/sketch.h"

namespace tilewright::schedule {

// A genome that instantiates to exactly this trace; empty if the trace is not from this sketch. A
// hole whose step is absent from the trace, because its stage was not created, gets its first
// choice. Takes about as long as a hundred calls of instantiate: not for hot loops.
std::optional<Genome> find_genome(const Sketch& sketch, const Trace& trace);

// The split of the same loop of the same stage as the split `like`; null: the trace has none.
const Split* find_split(const Trace& trace, const Step& like);
// The factors that a choice of tile sizes gives to one split.
Factors factors_of(const Factors& choice, const TileSlice& slice);
// The choice with the tail that the first of these splits has in the trace; the first choice if it
// has none of the splits.
uint16_t find_tail(const Sketch& sketch, const TailDomain& domain, const Trace& trace);

}  // namespace tilewright::schedule
