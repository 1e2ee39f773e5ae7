// Lane masks: the masks of the last vectors of loops, whose first lanes are iterations, and the
// loads under them. A value that only a store with the same mask uses may have any inactive lanes,
// so such loads and stores may use a register without the mask.
//
//   C[r] = fma(a, b, select(r < x16(3), C[r], 0)) where r < x16(3)       with r = ramp(0, 1, 16)
#pragma once

#include <optional>

#include "ir/stmt.h"
#include "ir/visit.h"

namespace tilewright::lower {

ir::Expr prefix_mask(unsigned active, unsigned lanes);  // the first `active` lanes

// The number of lanes of a constant mask of that form; empty for other masks.
std::optional<unsigned> active_lanes(const ir::Expr& mask);

// The load of `select(mask, load, zero)`; null if the node is not that or `mask` is undefined.
const ir::Load* load_under(const ir::Select& node, const ir::Expr& mask);

// A visitor that tracks, for each load, the mask of its active lanes.
class MaskedVisitor : public ir::Visitor {
 public:
  using Visitor::visit;
  void visit(const ir::Expr& expr) override;

 protected:
  // Called after the indices were visited. `mask`: that of the store which alone uses the load, or
  // undefined.
  virtual void visit_load(const ir::Load& load, const ir::Expr& mask) = 0;
  // Visits indices, value and predicate. Returns the predicate if active_lanes supports it;
  // otherwise an undefined mask.
  ir::Expr visit_operands(const ir::Store& store);
  const ir::Expr& mask() const { return mask_; }  // of the store around; may be undefined

 private:
  void visit_under(const ir::Expr& mask, const ir::Expr& expr);

  ir::Expr mask_;
};

}  // namespace tilewright::lower
