// LoopCut: the range of a loop variable in which a condition changes, for index-set splitting.
//
//   x + r >= 1 with x in [0, 14), r in [0, 2]:  true from x = 1 on, undecided at 0  ->  [0, 1)
//   x < 13                                                                         ->  [13, 13)
#pragma once

#include <optional>
#include <vector>

#include "arith/simplify.h"
#include "ir/expr.h"

namespace tilewright::lower {

// The condition is undecided for the variable in [begin, end), which may be empty, and decided on
// either side.
struct LoopCut {
  int64_t begin = 0, end = 0;
  bool is_exact() const { return begin == end; }
};

// The cut of an affine comparison, for the variable in [0, n) and all others within `bounds`; empty
// if there is none within [0, n), or if the condition is not an affine comparison.
std::optional<LoopCut> cut_of(const ir::Expr& condition, ir::VarId var, int64_t n,
                              const arith::Bounds& bounds);

// The longest range [begin, end) of [0, n) without a cut.
LoopCut longest_between(std::vector<LoopCut> cuts, int64_t n);

}  // namespace tilewright::lower
