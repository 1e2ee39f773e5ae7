// Random sketches for any Dag: every kind of step, with tile sizes that divide and that do not. The
// structure of a sketch is drawn once; factors, annotations and locations are its holes. Most
// genomes of most sketches are legal.
#pragma once

#include "base/rng.h"
#include "schedule/sketch.h"
#include "target/target.h"
#include "task/workload.h"

namespace tilewright::testing {

schedule::Sketch random_sketch(const Workload& workload, const Target& target, Rng& rng);

}  // namespace tilewright::testing
