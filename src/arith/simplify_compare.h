// Rules for comparisons. Those of I64 are decided by the range of the difference a - b, in which
// common terms have cancelled, or brought to one form: positive terms left, the others right, the
// constant on the right, no common factor. Pure functions.
//
//   i * 4 + 3 < j * 4 + 16  ->  i < j + 4       7 < i  ->  i >= 8       2*i == 5  ->  false
#pragma once

#include "arith/linear.h"

namespace tilewright::arith {

// `a op b` of I64 operands in linear form. `like` is the comparison with its operands as they were;
// `difference` is a - b, with quotients and remainders merged (arith/simplify_div.h).
ir::Expr compare_linear(const ir::Expr& like, const Linear& a, const Linear& b,
                        const Linear& difference);

// A comparison of narrower integers, whose operands are simplified: decides it if their ranges do.
// Other operands: the node itself.
ir::Expr compare_narrow(const ir::Expr& expr, const Bounds& bounds);

}  // namespace tilewright::arith
