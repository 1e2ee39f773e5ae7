// Random sketches for any Dag: every decision that our steps offer is a hole, with tile sizes that
// divide and ones that do not. Most genomes of most sketches are legal; the rest are drawn again.
#pragma once

#include "base/rng.h"
#include "schedule/sketch.h"
#include "task/workload.h"

namespace tilewright::testing {

schedule::Sketch random_sketch(const Workload& workload, Rng& rng);

// The text of a random small operator: matmul, batch_matmul, conv2d, softmax or a chain.
std::string random_operator(Rng& rng);

}  // namespace tilewright::testing
