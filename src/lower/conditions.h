// Decomposes the conditions of a loop nest: the condition of a Select or an If is a conjunction,
// whose conjuncts may be decided or moved one by one.
//
//   select(y >= 1 && y < 15 && x >= 1, A[..], 0)  ->  y >= 1,  y < 15,  x >= 1
#pragma once

#include <vector>

#include "ir/stmt.h"

namespace tilewright::lower {

// a && b && c -> a, b, c, and back; an empty list is `true`.
std::vector<ir::Expr> conjuncts_of(const ir::Expr& condition);
ir::Expr conjunction_of(const std::vector<ir::Expr>& conjuncts);

// True if the list contains an expression equal to this one.
bool holds(const std::vector<ir::Expr>& list, const ir::Expr& expr);

// True if it may be evaluated speculatively: it loads nothing and cannot fail.
bool is_movable(const ir::Expr& condition);

// A Select or an If inside a loop, as seen from that loop. Only trips of Serial loops count.
struct ConditionUse {
  // Conjuncts without the loop's variable and without variables bound inside the loop.
  std::vector<ir::Expr> invariant;
  struct Own {  // a conjunct with the loop's variable
    ir::Expr conjunct;
    int64_t trips = 1;  // of the loops inside all variables that it uses
  };
  std::vector<Own> own;
  int64_t trips = 1;        // of the loops around it, from this one inwards
  int64_t inner_trips = 1;  // the same, without this one
  bool is_if = false;
};

// Those with movable conjuncts, in statement order.
std::vector<ConditionUse> condition_uses(const ir::For& loop);

bool has_conditions(const ir::Stmt& stmt);

}  // namespace tilewright::lower
