// Constant folding: the value of an operation on constants, by the semantics of ir/expr.h. The
// makers use it, so a tree never holds an operation on constants alone, but for what has no value
// (a division by zero, a shift out of range) and functions whose bits `lower` defines (exp...).
#pragma once

#include <optional>

#include "ir/expr.h"

namespace tilewright::ir {

// Both constants in the range of `type`; the result too (0 or 1 for comparisons).
std::optional<int64_t> fold_integers(BinaryOp op, Scalar type, int64_t a, int64_t b);

// -7 / 2 = -4,  -7 mod 2 = 1;  the divisor is not 0.
int64_t floor_div(int64_t a, int64_t b);
int64_t floor_mod(int64_t a, int64_t b);

// The folded expression, or null where there is nothing to fold. Operands are well typed.
Expr fold(BinaryOp op, const Expr& a, const Expr& b);
Expr fold_cast(Scalar to, const Expr& value);
Expr fold_call(Intrinsic function, const Expr& a, const Expr& b);  // b null for one argument
Expr fold_bitcast(Scalar to, const Expr& value);
Expr fold_fma(const Expr& a, const Expr& b, const Expr& c);

}  // namespace tilewright::ir
