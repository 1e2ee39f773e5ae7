// Lane analysis: whether the iterations of a loop may run in lockstep, one per lane. This is the
// legality of `vectorize`.
//
// Iterations are independent if no element that one stores is touched by another. This is shown for
// each stored buffer from the linear forms of its indices: all have the same coefficient c != 0 for
// the loop variable, and the remaining difference between two accesses is a multiple of some m with
// |c| * (extent - 1) < m, so indices of different iterations differ modulo m. Alternatively, the
// buffer is only folded into (reduction_store.h), at indices without the variable.
//
//   C[k * 100 + j] with k inside, j < 16: c = 1, m = 100: independent;  C[j] and C[j + 1]: not
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "lower/pass.h"

namespace tilewright::lower {

struct LaneAnalysis {
  bool lockstep = false;
  int widest_bytes = 1;  // of loaded and stored elements
};

LaneAnalysis analyze_lanes(const ir::For& loop, const ir::Function& function,
                           const FloatPermissions& permissions);

// True if the expression uses one of the variables.
bool uses_any(const ir::Expr& expr, const std::vector<ir::VarId>& vars);

}  // namespace tilewright::lower
