// Algebraic simplification of integer and boolean expressions, and constant folding of all types.
//
// The result equals the input for all values of the variables within `bounds`. Simplification is
// idempotent, and an expression that cannot be simplified stays the same node. Floats: only
// constant folding, and identities that hold for NaN, infinities and signed zeros (x * 1,
// select(true, ...)).
//
// I64 is the type of indices. Where bounds are known, no rule assumes that a result fits 64 bits; a
// value without bounds is assumed not to overflow. Narrower integers wrap.
//
//   (i * 4 + 3) / 4        -> i          (i*4 + 7) % 4 -> 3
//   i < 16, i in [0, 15]   -> true       min(i, 20)    -> i
#pragma once

#include "arith/interval.h"
#include "ir/expr.h"
#include "ir/stmt.h"

namespace tilewright::arith {

ir::Expr simplify(const ir::Expr& expr, const Bounds& bounds = {});

// Simplifies all expressions of a statement with the bounds of its For loops. Removes loops without
// iterations, replaces the variables of loops with one iteration, resolves Ifs, and drops Lets of
// constants and variables. Inside an If, the condition bounds the variables that it compares with
// constants. Null if nothing remains.
ir::Stmt simplify(const ir::Stmt& stmt, const Bounds& bounds = {});

}  // namespace tilewright::arith
