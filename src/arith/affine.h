// Affine forms: constant + sum of coefficient * variable, in a fixed-size array. Access analysis,
// regions and index arithmetic work on them. A variable is a number; the owner of the form defines
// its meaning (an axis of an operator, a loop of a LoopTree, a VarId).
//
// Unlike a LinearSum (arith/linear_sum.h), a form has neither heap memory nor reference counts,
// because schedule/apply copies thousands of forms per candidate. Its atoms are numbers, and an
// overflow is an error.
//
//   3*i + j + 2  with i in [0, 9], j in [0, 4]  ->  range [2, 33]
#pragma once

#include <cstdint>
#include <optional>

#include "base/inline_vector.h"
#include "ir/expr.h"

namespace tilewright::arith {

struct Term {
  uint32_t var = 0;
  int64_t coefficient = 0;  // never 0
  bool operator==(const Term&) const = default;
};

struct Affine {
  // Enough for five levels of tiles of both halves of a blocked dimension and three of its reduce
  // axis. A size of 16 makes schedule/apply 3 % slower.
  static constexpr size_t kMaxTerms = 13;
  int64_t constant = 0;
  InlineVector<Term, kMaxTerms> terms;  // by ascending variable, no variable twice

  bool operator==(const Affine&) const = default;
  bool is_constant() const { return terms.empty(); }
  int64_t coefficient_of(uint32_t var) const;
  // These return false, and leave the form unspecified, if it needs more than kMaxTerms terms or a
  // number overflows 64 bits.
  [[nodiscard]] bool add_term(uint32_t var, int64_t coefficient);
  [[nodiscard]] bool add(const Affine& other, int64_t times = 1);
  // Overflow of 64 bits is a CHECK.
  void scale(int64_t factor);
};

// A scalar I64 expression as an affine form over VarIds. Nothing if it is not affine: a product of
// variables, a quotient or remainder that does not cancel, a load, a select, too many terms.
//   (4*i + 8) / 4 -> i + 2      (4*i + 7) % 4 -> 3
std::optional<Affine> affine_of(const ir::Expr& expr);

}  // namespace tilewright::arith
