// Rules for min, max and select of I64 operands in linear form. The range of the difference decides
// where it can. Pure functions: each adds times * (the result) to `out`. `like` is the node with
// its operands as they were; it becomes an atom of `out` if its operands are the same.
//
//   min(i, 20) -> i  for i in [0, 15]      min(min(i, 8), 4) -> min(i, 4)      select(c, i, i) -> i
#pragma once

#include "arith/linear.h"

namespace tilewright::arith {

void add_min_max(const ir::Expr& like, Linear a, Linear b, int64_t times, Linear& out);
// `condition` is simplified and not constant.
void add_select(const ir::Expr& like, ir::Expr condition, const Linear& yes, const Linear& no,
                int64_t times, Linear& out);

}  // namespace tilewright::arith
