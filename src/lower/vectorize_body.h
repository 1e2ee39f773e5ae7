// The body of a loop for `lanes` iterations at once, starting at `base`. The iterations may run in
// lockstep (lane_analysis.h). An expression that does not depend on the loop variable stays scalar
// and is broadcast where it meets a vector.
//
// A condition that depends on the variable becomes a mask: it predicates stores and selects values
// that could fail. Unless some lane is known to be active, the masked code runs only if one is.
//
//   if v < 13: C[v] = B[v] + A[0]   ->   C[r] = select(r < x16(13), B[r], 0) + x16(A[0])
//                                          where r < x16(13)          with r = ramp(0, 1, 16)
#pragma once

#include "arith/simplify.h"
#include "ir/stmt.h"

namespace tilewright::lower {

// `bounds`: of the variables bound around the loop. `active`: the number of lanes that are
// iterations of the loop, under a mask if it is not all of them.
ir::Stmt vectorize_body(const ir::For& loop, const ir::Expr& base, unsigned lanes,
                        const arith::Bounds& bounds, unsigned active);

}  // namespace tilewright::lower
