// NestValues: the values of the variables of a LoopTree at the current position, as expressions
// over the surrounding loops, and the resulting indices.
//
//   split C i [4], inside of loops i.0 and i.1      local_value(i) = i.0*4 + i.1
//
// A variable has a value only inside its loop; lower/loop_binder.h sets and clears it.
#pragma once

#include <vector>

#include "arith/affine.h"
#include "arith/simplify.h"
#include "ir/expr.h"
#include "layout/layout.h"
#include "schedule/loop_tree.h"

namespace tilewright::lower {

class NestValues {
 public:
  // `tree` outlives it. `layouts` are those of its buffers.
  NestValues(const schedule::LoopTree& tree, std::vector<layout::Layout> layouts);

  // The numbers that determine the sizes of buffers.
  const schedule::LoopTree& tree() const { return tree_; }
  // The numbers of the current branch.
  const schedule::LoopTree& live() const { return live_; }
  schedule::LoopTree& live() { return live_; }

  const ir::Expr& value(schedule::VarIndex var) const { return values_[static_cast<size_t>(var)]; }
  void set_value(schedule::VarIndex var, ir::Expr value) {
    values_[static_cast<size_t>(var)] = std::move(value);
  }
  // A new IR variable in [0, extent).
  ir::Expr new_variable(const std::string& name, int64_t extent);

  ir::Expr affine_expr(const arith::Affine& form) const;
  // The value of a variable from those of its loops; null if some have none (while a reduction is
  // initialized).
  ir::Expr local_value(schedule::VarIndex index) const;
  std::vector<ir::Expr> axis_values(schedule::StageIndex index) const;
  ir::Expr simplified(const ir::Expr& expr) const { return arith::simplify(expr, bounds_); }

  // Logical indices relative to the origin of the buffer -> digits of its layout.
  std::vector<ir::Expr> digits_of(schedule::BufferIndex buffer,
                                  const std::vector<ir::Expr>& local) const;
  // The same for absolute indices.
  std::vector<ir::Expr> locate(schedule::BufferIndex buffer,
                               const std::vector<ir::Expr>& absolute) const;

  // For padded tiles: the conditions of one kind under which an element is inside the tensor,
  // without those that are proved. They guard reads of other buffers, and folds.
  std::vector<ir::Expr> element_guards(schedule::StageIndex index, schedule::IterKind kind) const;

 private:
  const schedule::LoopTree& tree_;
  schedule::LoopTree live_;
  std::vector<layout::Layout> layouts_;
  std::vector<ir::Expr> values_;  // per variable; null: no value
  arith::Bounds bounds_;
};

}  // namespace tilewright::lower
