// Recognizes stores that fold a value into the element they overwrite.
//
//   S[i] = S[i] + v,  S[i] = max(v, S[i]),  S[i] = fma(a, b, S[i])
#pragma once

#include <optional>

#include "ir/stmt.h"

namespace tilewright::lower {

struct ReductionStore {
  ir::BinaryOp op;  // Add, Mul, Min or Max
  ir::Expr self;    // the Load of the element
  ir::Expr value;   // the folded value; a * b for fma
};

// The store as a reduction, if it has no predicate, its value has one of the forms above, and it
// loads the element that it stores. The value may load other elements of the same buffer; the
// caller must check that.
std::optional<ReductionStore> match_reduction(const ir::Store& store);

// The identity of the operation: 0, 1, infinity or the largest integer, or its negative.
ir::Expr identity_of(ir::BinaryOp op, ir::Type type);

}  // namespace tilewright::lower
