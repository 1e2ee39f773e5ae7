// Finds registers whose lanes outside one mask are never used: every load is under that mask, by a
// Select or in the value of a predicated store. Their stores need no predicate.
//
//   acc = select(m, acc, 0) + x where m;  C[r] = acc where m     ->   acc = acc + x;  ...
#pragma once

#include <vector>

#include "ir/stmt.h"

namespace tilewright::codegen {

// Per BufferId. False for buffers that are not registers or have no predicated stores.
std::vector<bool> registers_under_one_mask(const ir::Function& function);

}  // namespace tilewright::codegen
