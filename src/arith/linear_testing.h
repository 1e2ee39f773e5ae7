// For tests of the simplifier's rules: linear forms by hand.
#pragma once

#include <string>
#include <vector>

#include "arith/linear.h"
#include "ir/print.h"

namespace tilewright::arith {

inline RangedTerm term(const ir::Expr& atom, int64_t coefficient,
                       const Interval& range = kEverything) {
  return {{atom, coefficient}, range};
}

inline Linear form(const std::vector<RangedTerm>& terms, int64_t constant = 0) {
  Linear made;
  for (const RangedTerm& one : terms) made.add_term(one.atom, one.coefficient, one.range);
  made.add_constant(constant);
  return made;
}

inline std::string text_of(const Linear& linear) { return ir::to_string(linear.to_expr(1, {})); }

}  // namespace tilewright::arith
