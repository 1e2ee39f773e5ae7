// A chain of reductions in one nest:
//
//   Y  (h,i.0) parallel, i.1, e            split Y i [f0 * f1]
//   C  at (h,i.0): j.0, i.0, k, i.1, j.1   split C i [f1]: rows in registers
//   M, E, S  at (h,i.0)
//   O  at (h,i.0): e.0, i.0, j, i.1, e.1   split O i [f1]
#pragma once

#include "heuristic/chain_plan.h"
#include "space/layout_context.h"

namespace tilewright::space {

// Lays out the root, places all members in it, and adds the holes of the products' operands.
void lay_out_chain(const LayoutContext& layout, const heuristic::Chain& chain);

}  // namespace tilewright::space
