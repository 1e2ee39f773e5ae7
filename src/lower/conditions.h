// The conditions of a loop nest, taken apart: a Select or an If is decided by a conjunction, and
// its conjuncts may be known or moved one by one.
//
//   select(y >= 1 && y < 15 && x >= 1, A[..], 0)  ->  y >= 1,  y < 15,  x >= 1
#pragma once

#include <vector>

#include "ir/stmt.h"

namespace tilewright::lower {

// a && b && c -> a, b, c, and back; no conjuncts are `true`.
std::vector<ir::Expr> conjuncts_of(const ir::Expr& condition);
ir::Expr conjunction_of(const std::vector<ir::Expr>& conjuncts);

// Whether the list has an expression equal to this one.
bool holds(const std::vector<ir::Expr>& list, const ir::Expr& expr);

// Whether it may be evaluated elsewhere, and in vain: it loads nothing and cannot fail.
bool is_movable(const ir::Expr& condition);

// A Select or an If inside a loop, as that loop sees it. Trips are those of Serial loops.
struct ConditionUse {
  std::vector<ir::Expr>
      invariant;  // conjuncts without the loop's variable and what is bound inside
  struct Own {    // a conjunct with the loop's variable
    ir::Expr conjunct;
    int64_t trips = 1;  // of the loops inside of all that it uses
  };
  std::vector<Own> own;
  int64_t trips = 1;        // of the loops around it, from this one inwards
  int64_t inner_trips = 1;  // the same without this one
  bool is_if = false;
};

// Those with movable conjuncts, in order of the statements.
std::vector<ConditionUse> condition_uses(const ir::For& loop);

bool has_conditions(const ir::Stmt& stmt);

}  // namespace tilewright::lower
