// The recursion of the simplifier over expressions. It holds the bounds and the values of
// variables; rules for nodes with simplified operands are pure functions:
//
//   simplify_div.h        / and % by constants, and x / c * c + x % c -> x
//   simplify_minmax.h     min, max, select of I64
//   simplify_compare.h    == != < <= > >=
//   simplify_bool.h       && || not
//   simplify_generic.h    rules for every type: identities, broadcasts, casts, loads
//
// Statements and the public functions are in simplify.cc.
//
// Each node is visited once, bottom up. A rule that builds a new operand from simplified ones
// continues from there and does not start over. I64 arithmetic uses the form of arith/linear.h and
// is assumed not to overflow where nothing bounds it. Narrower integers wrap: their rules hold
// modulo 2^n.
#pragma once

#include "arith/linear.h"
#include "arith/simplify_div.h"
#include "ir/visit.h"

namespace tilewright::arith {

class Simplifier : public ir::Rewriter, private LinearSource {
 public:
  // Keeps a reference to `bounds`, which the owner may change between calls.
  explicit Simplifier(const Bounds& bounds) : bounds_(bounds) {}

  using Rewriter::rewrite;
  ir::Expr rewrite(const ir::Expr& expr) override;

  ir::Substitution let_values;  // variables to be replaced; their values are simplified

 private:
  // I64. `linear(e)` is e as a form; `add_linear` adds times * e to one.
  Linear linear(const ir::Expr& expr) override;
  void add_linear(const ir::Expr& expr, int64_t times, Linear& out);
  void add_var(const ir::Expr& expr, int64_t times, Linear& out);
  void add_binary(const ir::Expr& expr, int64_t times, Linear& out);
  void add_product(const ir::Expr& expr, int64_t times, Linear& out);
  void add_select(const ir::Expr& expr, int64_t times, Linear& out);

  ir::Expr compare(const ir::Expr& expr);  // of I64 operands
  ir::Expr generic(const ir::Expr& expr);

  const Bounds& bounds_;
};

}  // namespace tilewright::arith
