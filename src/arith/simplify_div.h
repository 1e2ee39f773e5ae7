// Rules for quotients and remainders of I64. With L = c*Q + R split coefficient by coefficient,
// c > 0:
//
//   L / c -> Q + R / c        L % c -> R % c
//
// and R, being small, often vanishes: (i*8 + j) / 8 -> i and (i*8 + j) % 8 -> j for j in [0, 7].
// Valid where neither L nor R may leave 64 bits. The functions keep no state.
#pragma once

#include "arith/linear.h"

namespace tilewright::arith {

// Decomposes operands of atoms, which are simplified already: the x of x / 4 when (x / 4) / 2
// becomes x / 8.
class LinearSource {
 public:
  virtual ~LinearSource() = default;
  virtual Linear linear(const ir::Expr& expr) = 0;
};

// Adds times * (a / b) or times * (a % b) to `out`. `like` is the node with its operands as they
// were; it becomes an atom of `out` if its operands are the same.
void add_quotient(const ir::Expr& like, Linear a, const Linear& b, int64_t times,
                  LinearSource& source, Linear& out);

// k*c * (x / c) + k * (x % c) -> k * x, and the same with x / b / c, which is x / (b*c), for the
// quotient of (x / b) % c. Returns whether it did.
bool merge_div_and_mod(Linear& form, LinearSource& source);

}  // namespace tilewright::arith
