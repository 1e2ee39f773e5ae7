// Random sketches for any Dag: every decision that our steps offer, with tile sizes that divide and
// ones that do not. What a sketch does is drawn once; factors, annotations and places are its
// holes. Most genomes of most sketches are legal.
#pragma once

#include "base/rng.h"
#include "schedule/sketch.h"
#include "task/workload.h"

namespace tilewright::testing {

schedule::Sketch random_sketch(const Workload& workload, Rng& rng);

}  // namespace tilewright::testing
