// Turns small allocated buffers into registers: when every access, after unrolling and
// vectorizing, has a constant index (a number, or a ramp of stride 1 from one) and accesses are
// equal or disjoint, each piece becomes a Register buffer of its own vector type.
//
//   allocate t: f32[32]                        ->   allocate t.0: f32x16 in register
//   t[ramp(0, 1, 16)] = ..., t[ramp(16, 1, 16)] = ...   allocate t.1: f32x16 in register
//
// Each Allocate by itself: the branches of a tail may cut a buffer differently. At most 64 pieces
// are alive together; what would go beyond stays in memory. Buffers that stay and are used by one
// thread move to the stack if they have at most 16 KiB (64 KiB together).
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void promote_registers(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
