// The implementation of the simplifier, one file per family of operators.
//
//   simplifier.cc         dispatch; sums and products of I64
//   simplify_div.cc       / and % by constants, and x / c * c + x % c -> x
//   simplify_minmax.cc    min, max, select of I64
//   simplify_compare.cc   == != < <= > >=
//   simplify_bool.cc      && || not
//   simplify_generic.cc   rules for every type: identities, broadcasts, casts, loads
//   simplify.cc           statements and the public functions
//
// Each node is visited once, bottom up. A rule that builds a new operand from simplified ones
// continues from there and does not start over. I64 arithmetic uses the form of arith/linear.h and
// is assumed not to overflow where nothing bounds it. Narrower integers wrap: their rules hold
// modulo 2^n.
#pragma once

#include "arith/linear.h"
#include "arith/simplify.h"
#include "ir/visit.h"

namespace tilewright::arith {

class Simplifier : public ir::Rewriter {
 public:
  // Keeps a reference to `bounds`, which the owner may change between calls.
  explicit Simplifier(const Bounds& bounds) : bounds_(bounds) {}

  using Rewriter::rewrite;
  ir::Expr rewrite(const ir::Expr& expr) override;

  ir::Substitution let_values;  // variables to be replaced; their values are simplified

 private:
  // I64. `linear(e)` is e as a form; `add_linear` adds times * e to one.
  Linear linear(const ir::Expr& expr);
  void add_linear(const ir::Expr& expr, int64_t times, Linear& out);
  void add_var(const ir::Expr& expr, int64_t times, Linear& out);
  void add_binary(const ir::Expr& expr, int64_t times, Linear& out);
  void add_product(const ir::Expr& expr, int64_t times, Linear& out);
  void add_quotient(const ir::Expr& expr, int64_t times, Linear& out);
  void add_div(Linear dividend, int64_t divisor, const ir::Expr& like, int64_t times, Linear& out);
  void add_mod(Linear dividend, int64_t divisor, const ir::Expr& like, int64_t times, Linear& out);
  void add_min_max(const ir::Expr& expr, int64_t times, Linear& out);
  void add_select(const ir::Expr& expr, int64_t times, Linear& out);
  bool open_remainder(Linear& dividend, int64_t c);
  bool merge_div_and_mod(Linear& form);

  ir::Expr compare(const ir::Expr& expr);          // of I64 operands
  ir::Expr compare_generic(const ir::Expr& expr);  // of others; operands are simplified
  ir::Expr logical(const ir::Expr& expr);          // And, Or
  ir::Expr generic(const ir::Expr& expr);

  const Bounds& bounds_;
};

// `op(a, b)` of I64 operands given as forms, with the lanes of `like`; a scalar if both are
// uniform. Returns `like` if it is that expression already.
ir::Expr make_binary(ir::BinaryOp op, const Linear& a, const Linear& b, const ir::Expr& like);

// Rules for a node whose children are simplified. Return the node itself if none applies.
ir::Expr simplify_logical(const ir::Expr& expr);
ir::Expr simplify_not(const ir::Expr& expr);
ir::Expr simplify_identities(const ir::Expr& expr);

}  // namespace tilewright::arith
