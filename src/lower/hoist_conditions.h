// Hoists conditions of Selects and Ifs out of loops, by copies of the loop in which they are
// decided.
//
// Unswitching: a condition that is invariant in a loop is tested outside it.
//
//   for x < 16:                                          for x < 16:
//     for c < 64:                                   ->     if x >= 1:
//       Y[x, c] = select(x >= 1, A[x - 1, c], 0)             for c < 64: Y[x, c] = A[x - 1, c]
//                                                          else:
//                                                            for c < 64: Y[x, c] = 0
//
// Index-set splitting: a loop whose variable decides a condition is split where the condition
// changes.
//
//   for x < 16: Y[x] = select(x >= 1, A[x - 1], 0)  ->   Y[0] = 0
//                                                        for x < 15: Y[x + 1] = A[x]
//
// A condition such as x + r >= 1, r < 3 is known for x >= 1: the loop is split there, and for x = 0
// the condition depends on r alone. Unrolled loops are unrolled here if a condition uses their
// variable. Vectorized loops are split at whole vectors, if enough of them are left. A test is
// placed at the innermost position where the loops inside pay for it, so that conditions that
// change together become one. The copies are limited (kBudget); conditions beyond the limit stay in
// place. Results keep their bits.
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void hoist_conditions(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
