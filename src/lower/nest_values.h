// NestValues: what the variables of a LoopTree are where statements are being written, as
// expressions over the loops around them, and the indices that follow from it.
//
//   split C i [4], inside of loops i.0 and i.1      local_value(i) = i.0*4 + i.1
//
// A variable has a value inside of its loop only: lower/loop_binder.h gives and takes them.
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

  const schedule::LoopTree& tree() const { return tree_; }  // the numbers that buffers are sized by
  // The numbers of the branch that is being written.
  const schedule::LoopTree& live() const { return live_; }
  schedule::LoopTree& live() { return live_; }

  const ir::Expr& value(schedule::VarIndex var) const { return values_[static_cast<size_t>(var)]; }
  void set_value(schedule::VarIndex var, ir::Expr value) {
    values_[static_cast<size_t>(var)] = std::move(value);
  }
  // A new variable of the IR, from 0 to extent - 1.
  ir::Expr new_variable(const std::string& name, int64_t extent);

  ir::Expr affine_expr(const arith::Affine& form) const;
  // The value of a variable from those of its loops; null while some have none (a reduction that
  // is being initialized).
  ir::Expr local_value(schedule::VarIndex index) const;
  std::vector<ir::Expr> axis_values(schedule::StageIndex index) const;
  ir::Expr simplified(const ir::Expr& expr) const { return arith::simplify(expr, bounds_); }

  // Logical indices, relative to the origin of what the buffer holds -> digits of its layout.
  std::vector<ir::Expr> digits_of(schedule::BufferIndex buffer,
                                  const std::vector<ir::Expr>& local) const;
  // The same from absolute ones.
  std::vector<ir::Expr> locate(schedule::BufferIndex buffer,
                               const std::vector<ir::Expr>& absolute) const;

  // Padded tiles: what is read there of other buffers, and what is folded, ends where the elements
  // do. Conditions of one kind that hold for elements and are not known to hold.
  std::vector<ir::Expr> element_guards(schedule::StageIndex index, schedule::IterKind kind) const;

 private:
  const schedule::LoopTree& tree_;
  schedule::LoopTree live_;
  std::vector<layout::Layout> layouts_;
  std::vector<ir::Expr> values_;  // per variable; null where it has none
  arith::Bounds bounds_;
};

}  // namespace tilewright::lower
