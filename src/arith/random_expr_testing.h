// For tests: random integer and boolean expressions, and a small evaluator that shares no code with
// the simplifier and constant folding, which it checks. Deterministic for a given Rng.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "arith/simplify.h"
#include "base/rng.h"
#include "ir/expr.h"

namespace tilewright::arith {

using Values = std::unordered_map<ir::VarId, int64_t>;

// Options of the generator. Every expression is over `variables`, which are I64.
struct RandomExprOptions {
  bool affine_only = false;  // + - * by constants, / and % by positive constants, min and max
  bool vectors = true;
  bool narrow = true;  // some arithmetic on narrower integers under casts
  int64_t largest_constant = 20;
};

class RandomExpr {
 public:
  RandomExpr(Rng& rng, std::vector<ir::Expr> variables, RandomExprOptions options = {})
      : rng_(rng), variables_(std::move(variables)), options_(options) {}

  ir::Expr integer(int depth, unsigned lanes = 1);  // I64
  ir::Expr boolean(int depth, unsigned lanes = 1);

 private:
  ir::Expr leaf(unsigned lanes);
  ir::Expr affine(int depth, unsigned lanes);
  ir::Expr narrow(int depth, unsigned lanes);
  int64_t constant() { return rng_.between(-options_.largest_constant, options_.largest_constant); }
  // Often a power of two, since these cancel in quotients.
  int64_t positive();

  Rng& rng_;
  std::vector<ir::Expr> variables_;
  RandomExprOptions options_;
};

// The value of one lane of an integer or boolean expression. A Load gives a small number that
// depends on buffer and indices. `overflowed` is set if an evaluated I64 operation overflowed.
int64_t evaluate(const ir::Expr& expr, const Values& values, unsigned lane, bool& overflowed);

// A value for each variable, usually small or at a bound of its interval.
Values random_values(Rng& rng, const std::vector<ir::Expr>& variables, const Bounds& bounds);

// The number of rounds of a random test: `standard`, times TILEWRIGHT_TEST_FACTOR from the
// environment.
int rounds(int standard);
// Seeds differ by test; TILEWRIGHT_TEST_SEED from the environment shifts all of them.
uint64_t seed(uint64_t test);

}  // namespace tilewright::arith
