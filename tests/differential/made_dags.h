// Dags that no operator of the table has: consecutive reductions, tensors that several operators
// read in several ways, reversed axes, tuples with readers, rows too long for the stack.
#pragma once

#include "base/rng.h"
#include "task/workload.h"

namespace tilewright::testing {

Workload argmax_read_on(Rng& rng);   // the largest element of a row and its first position
Workload chained_matmuls(Rng& rng);  // A x B x W
Workload stencil(Rng& rng);          // shifted, plain and reversed reads of one tensor
Workload flipped(Rng& rng);          // transposed and reversed
Workload shared_producer(Rng& rng);  // one tensor read by a sum, a maximum and element by element
Workload long_rows(Rng& rng);        // a row of an intermediate takes more than 16 KiB

}  // namespace tilewright::testing
