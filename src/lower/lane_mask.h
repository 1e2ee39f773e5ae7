// Lane masks: the masks of the last vectors of loops, whose first lanes are iterations, and the
// loads under them. A value that only a store with the same mask uses may have any inactive lanes,
// so such loads and stores may use a register without the mask.
//
//   C[r] = fma(a, b, select(r < x16(3), C[r], 0)) where r < x16(3)       with r = ramp(0, 1, 16)
#pragma once

#include <optional>

#include "ir/stmt.h"

namespace tilewright::lower {

ir::Expr prefix_mask(unsigned active, unsigned lanes);  // the first `active` lanes

// The number of lanes of a constant mask of that form; empty for other masks.
std::optional<unsigned> active_lanes(const ir::Expr& mask);

// The load of `select(mask, load, zero)`; null if the node is not that or `mask` is undefined.
const ir::Load* load_under(const ir::Select& node, const ir::Expr& mask);

}  // namespace tilewright::lower
