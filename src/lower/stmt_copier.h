// StmtCopier: the base of passes that copy statements for contexts in which variables have values.
// Indices become canonical sums, a Select with a decided condition becomes its arm, and variables
// bound in a copy are new. A pass overrides the functions of nodes that it can simplify further.
//
//   with i = 1:   select(i < 2, A[i * 4 + j], 0)   ->   A[j + 4]
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "ir/visit.h"

namespace tilewright::lower {

class StmtCopier : public ir::Rewriter {
 public:
  ir::Expr rewrite(const ir::Expr& expr) override;
  ir::Stmt rewrite(const ir::Stmt& stmt) override;  // Store and Prefetch; others by their children

 protected:
  StmtCopier() = default;
  explicit StmtCopier(ir::Substitution values) : values_(std::move(values)) {}

  // The condition of a Select in the copy.
  virtual ir::Expr decided(const ir::Expr& condition) { return rewrite(condition); }

  // The new variable for `var`, which the copy binds.
  ir::Expr renamed(const ir::Expr& var);
  std::vector<ir::Expr> rewrite_indices(const std::vector<ir::Expr>& indices) const;

  ir::Substitution values_;
};

// if condition: then_body else: else_body. Each may be null; null if both are.
ir::Stmt make_branch(const ir::Expr& condition, ir::Stmt then_body, ir::Stmt else_body);

}  // namespace tilewright::lower
