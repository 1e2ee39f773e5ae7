// Stores that fold a value into the element they overwrite.
//
//   S[i] = S[i] + v,  S[i] = max(v, S[i]),  S[i] = fma(a, b, S[i])
#pragma once

#include <optional>

#include "ir/stmt.h"

namespace tilewright::lower {

struct ReductionStore {
  ir::BinaryOp op;  // Add, Mul, Min or Max
  ir::Expr self;    // the Load of the element
  ir::Expr value;   // what is folded in; a * b for fma
};

// The store as a reduction, if it has no predicate, and its value has one of the forms above and
// loads the very element it stores. The value may load others of the same buffer: that is for the
// caller to see.
std::optional<ReductionStore> match_reduction(const ir::Store& store);

// The value that changes nothing: 0, 1, infinity or the largest integer, or its negative.
ir::Expr identity_of(ir::BinaryOp op, ir::Type type);

}  // namespace tilewright::lower
