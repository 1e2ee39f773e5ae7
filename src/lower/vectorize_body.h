// The body of a loop for `lanes` iterations at once, those from `base` on. The loop's iterations
// may run in lockstep (lane_analysis.h); an expression that does not depend on the loop variable
// stays scalar and is broadcast where it meets a vector.
//
// A condition that depends on the variable becomes a mask: stores are predicated by it, and what
// may fail where it does not hold is selected by it. Unless some lane is known to hold, all that
// is run only if one does.
//
//   if v < 13: C[v] = B[v] + A[0]   ->   C[r] = select(r < x16(13), B[r], 0) + x16(A[0])
//                                          where r < x16(13)          with r = ramp(0, 1, 16)
#pragma once

#include "arith/simplify.h"
#include "ir/stmt.h"

namespace tilewright::lower {

// `bounds` of the variables bound around the loop.
ir::Stmt vectorize_body(const ir::For& loop, const ir::Expr& base, unsigned lanes,
                        const arith::Bounds& bounds);

}  // namespace tilewright::lower
