// Rules for nodes of every type: identities, selects, and vectors whose operands are broadcasts.
// Floats: only rules that hold for NaN, infinities and signed zeros. A pure function.
//
//   x - x -> 0 (integers)      x * 1 -> x      select(true, x, y) -> x
//   x4(a) + x4(b) -> x4(a + b)
#pragma once

#include "ir/expr.h"

namespace tilewright::arith {

// Of a node whose children are simplified; the node itself if no rule applies.
ir::Expr simplify_node(const ir::Expr& expr);

}  // namespace tilewright::arith
