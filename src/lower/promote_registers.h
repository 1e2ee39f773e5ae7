// Promotes small allocated buffers to registers: if every access, after unrolling and
// vectorization, has a constant index (a number, or a ramp of stride 1 from one), and accesses are
// equal or disjoint, each piece becomes a Register buffer with its own vector type.
//
//   allocate t: f32[32]                        ->   allocate t.0: f32x16 in register
//   t[ramp(0, 1, 16)] = ..., t[ramp(16, 1, 16)] = ...   allocate t.1: f32x16 in register
//
// Masks are dropped where all accesses to a piece have the same mask (lane_mask.h).
//
// Each Allocate is handled separately, because branches of a tail may divide a buffer differently.
// At most 64 pieces are live at once; further pieces stay in memory. Buffers that stay in memory
// and are used by one thread move to the stack while there is room (move_to_stack,
// lower/memory_scope.h).
#pragma once

#include "lower/pass.h"

namespace tilewright::lower {

void promote_registers(ir::Function& function, const PassContext& context);

}  // namespace tilewright::lower
