// Algebraic simplification of integer and boolean expressions, and constant folding of all.
//
// The result equals the input for every value of the variables within `bounds`; simplifying twice
// gives the same; an expression that cannot be improved comes back as the same node. Floats: only
// folding of constants and identities that hold for NaN, infinities and signed zeros
// (x * 1, select(true, ...)).
//
// I64 is the type of indices: where bounds are known, nothing is done that a result outside of 64
// bits could falsify; what has no bounds is taken not to overflow. Narrower integers wrap, and no
// rule assumes that they do not.
//
//   (i * 4 + 3) / 4        -> i          (i*4 + 7) % 4 -> 3
//   i < 16, i in [0, 15]   -> true       min(i, 20)    -> i
#pragma once

#include <optional>
#include <unordered_map>

#include "ir/expr.h"
#include "ir/stmt.h"

namespace tilewright::arith {

struct Interval {  // closed
  int64_t low = 0;
  int64_t high = 0;
  bool operator==(const Interval&) const = default;
  bool is_point() const { return low == high; }
};

using Bounds = std::unordered_map<ir::VarId, Interval>;

ir::Expr simplify(const ir::Expr& expr, const Bounds& bounds = {});

// Simplifies everywhere, with the bounds that For loops give: removes loops of no trips, replaces
// variables of one-trip loops, resolves Ifs, drops Lets of constants and variables. Inside an If
// the condition bounds the variables that it compares with constants. Null when nothing is left to
// do.
ir::Stmt simplify(const ir::Stmt& stmt, const Bounds& bounds = {});

// Smallest interval known to hold every value of an integer expression; nothing when unbounded or
// when it may leave 64 bits.
std::optional<Interval> interval_of(const ir::Expr& expr, const Bounds& bounds);

}  // namespace tilewright::arith
