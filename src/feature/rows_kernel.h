// The columns of a feature row about tails, threads and the innermost body.
#pragma once

#include "feature/rows_state.h"

namespace tilewright::feature {

// Also sets the share of the busiest thread, which rows_caches.h reads.
void write_kernel(RowState& state, const Weighted& weighted);

}  // namespace tilewright::feature
