// Constant folding by the semantics of ir/expr.h. The factory functions use it, so a tree holds no
// operation on constants, except operations without a value (division by zero, a shift out of
// range) and functions whose bits `lower` defines (exp and others).
#pragma once

#include <cstdint>
#include <optional>

#include "ir/expr.h"

namespace tilewright::ir {

// Operands and result are in the range of `type`; a comparison gives 0 or 1. Nothing for an
// operation without a value.
std::optional<int64_t> fold_integers(BinaryOp op, Scalar type, int64_t a, int64_t b);

// -7 / 2 = -4,  -7 mod 2 = 1;  the divisor is not 0.
int64_t floor_div(int64_t a, int64_t b);
int64_t floor_mod(int64_t a, int64_t b);

// Modulo 2^64, like I64 arithmetic.
constexpr int64_t wrapping_sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t wrapping_product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// The folded expression, or null if it cannot be folded. Operands are well typed.
Expr fold(BinaryOp op, const Expr& a, const Expr& b);
Expr fold_cast(Scalar to, const Expr& value);
Expr fold_call(Intrinsic function, const Expr& a, const Expr& b);  // b null for one argument
Expr fold_bitcast(Scalar to, const Expr& value);
Expr fold_fma(const Expr& a, const Expr& b, const Expr& c);

}  // namespace tilewright::ir
