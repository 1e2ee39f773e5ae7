// Takes conditions of Selects and Ifs out of loops, by copies of the loop in which they are
// decided.
//
// Unswitching: what a loop does not change is tested outside of it.
//
//   for x < 16:                                          for x < 16:
//     for c < 64:                                   ->     if x >= 1:
//       Y[x, c] = select(x >= 1, A[x - 1, c], 0)             for c < 64: Y[x, c] = A[x - 1, c]
//                                                          else:
//                                                            for c < 64: Y[x, c] = 0
//
// Index-set splitting: a loop whose variable decides is cut where the condition changes.
//
//   for x < 16: Y[x] = select(x >= 1, A[x - 1], 0)  ->   Y[0] = 0
//                                                        for x < 15: Y[x + 1] = A[x]
//
// A condition such as x + r >= 1, r < 3 is known for x >= 1: the loop is cut there, and at x = 0
// the condition is one of r. Unrolled loops are unrolled here where a condition uses their
// variable; Vectorized ones are cut at whole vectors, if enough of them are left. A test stands
// at the innermost place at which it is paid for by the loops inside, so that conditions that
// change together are one. What the copies add to the program has a limit (kBudget); conditions
// beyond it are left as they are. Results keep their bits.
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void hoist_conditions(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
