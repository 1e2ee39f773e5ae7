// Copies a statement for a context with more information: variables have values or narrower bounds,
// conditions are decided. Decided conditions are removed; variables bound in the copy are new.
//
//   for c < 8: Y[x * 8 + c] = select(x >= 1 && c < n, A[x * 8 + c], 0)
//     with x = 0          ->  for c < 8: Y[c] = 0
//     with x >= 1 known   ->  for c < 8: Y[x * 8 + c] = select(c < n, A[x * 8 + c], 0)
#pragma once

#include <vector>

#include "arith/simplify.h"
#include "ir/stmt.h"
#include "ir/visit.h"

namespace tilewright::lower {

struct Assumptions {
  ir::Substitution values = {};       // of free variables of the statement
  arith::Bounds bounds = {};          // of variables bound around the copy
  std::vector<ir::Expr> known = {};   // conditions that hold
  std::vector<ir::Expr> failed = {};  // not all of these hold; empty: none is known to fail
};

// Null if nothing is left. Indices have one dimension.
ir::Stmt specialize(const ir::Stmt& stmt, const Assumptions& assumptions);

// Narrows the bounds of a variable that `condition` (or its negation) compares with a constant.
void assume(const ir::Expr& condition, bool is_true, arith::Bounds& bounds);

// A branch of an If, rewritten while `bounds`, which the rewriter reads, are narrowed by its
// condition. Null for a null body.
ir::Stmt rewrite_under(ir::Rewriter& rewriter, const ir::Expr& condition, bool is_true,
                       const ir::Stmt& body, arith::Bounds& bounds);

}  // namespace tilewright::lower
