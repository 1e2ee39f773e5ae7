// The compile-time knowledge about the lanes of a mask: all are set, none, or at least one.
//
//   ramp(i * 16, 1, 16) < x16(61), i in [0, 3]   ->   Some: lane 0 holds for every i
#pragma once

#include "arith/simplify.h"
#include "ir/expr.h"

namespace tilewright::lower {

enum class MaskLanes { None, Some, All, Unknown };

MaskLanes lanes_of_mask(const ir::Expr& mask, const arith::Bounds& bounds);

}  // namespace tilewright::lower
