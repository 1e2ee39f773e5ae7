// Dags that no operator of the table has: reductions in a row, tensors read by several operators in
// several ways, axes that run backwards, tuples that are read on, rows too long for the stack.
#pragma once

#include "base/rng.h"
#include "task/workload.h"

namespace tilewright::testing {

Workload argmax_read_on(Rng& rng);   // the largest element of a row and where it first is
Workload chained_matmuls(Rng& rng);  // A x B x W
Workload stencil(Rng& rng);          // shifted, plain and reversed reads of one tensor
Workload flipped(Rng& rng);          // transposed and reversed
Workload shared_producer(Rng& rng);  // one tensor read by a sum, a maximum and element by element
Workload long_rows(Rng& rng);        // a row of an intermediate takes more than 16 KiB

}  // namespace tilewright::testing
