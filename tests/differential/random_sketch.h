// Random sketches for any Dag: every decision that our steps offer is a hole, with tile sizes that
// divide and ones that do not. Most genomes of most sketches are legal; the rest are drawn again.
#pragma once

#include "base/rng.h"
#include "schedule/sketch.h"
#include "task/workload.h"

namespace tilewright::testing {

schedule::Sketch random_sketch(const Workload& workload, Rng& rng);

// A random small workload: matmul, batch_matmul, conv2d, softmax, a chain, or a reduction of tuples
// (the largest element of a row and where it first is, read by a further stage), or a Dag that no
// operator of the table has: chained reductions, a stencil, flipped axes.
Workload random_workload(Rng& rng);

}  // namespace tilewright::testing
