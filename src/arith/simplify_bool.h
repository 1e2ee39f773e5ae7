// Rules for && and || and not, of a node whose operands are simplified. Both sides are always
// evaluated, so dropping one is always right. Pure functions; they return the node itself if no
// rule applies.
//
//   x < 4 && x < 9 -> x < 4      x < 4 || x >= 2 -> true      not(a < b) -> a >= b
#pragma once

#include "ir/expr.h"

namespace tilewright::arith {

ir::Expr simplify_logical(const ir::Expr& expr);  // And or Or
ir::Expr simplify_not(const ir::Expr& expr);      // a call of Not

}  // namespace tilewright::arith
