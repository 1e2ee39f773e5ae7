// Simplifies the whole body with the bounds of its loops (arith/simplify.h): indices, conditions,
// loops of one iteration, Ifs that are always or never taken.
//
//   for i < 1: if i < 4: A[i * 8 + 0] = 1.0   ->   A[0] = 1.0
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void simplify(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
