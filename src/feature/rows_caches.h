// The columns of a feature row about the traffic of each cache, and about recomputation.
#pragma once

#include "feature/rows_arith.h"
#include "feature/rows_state.h"

namespace tilewright::feature {

void write_caches(RowState& state, const Weighted& weighted,
                  const DagArithmetic::Statement& arithmetic);

}  // namespace tilewright::feature
