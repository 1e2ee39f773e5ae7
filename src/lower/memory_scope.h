// Maps the memory of a LoopTree's buffers (schedule::memory_scope) to scopes of the loop IR. This
// is the only place that decides where a CPU keeps the buffers of a thread; a device keeps the
// memory that the schedule selected.
//
//   memory            on a CPU                                                       on a device
//   register          Stack up to 16 KiB; beyond, as global                          DeviceRegister
//   local             the same                                                       DeviceLocal
//   shared            none                                                           Shared
//   global            Workspace; Thread inside of a parallel loop, whose iterations  DeviceGlobal
//                     share nothing
//
// Where no step chose the memory, a buffer of one thread of a CPU moves to the stack
// (move_to_stack), unless promote_registers keeps it in registers.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "ir/stmt.h"
#include "schedule/loop_tree.h"
#include "target/target.h"

namespace tilewright::lower {

inline constexpr int64_t kStackBytes = 16 * 1024;  // of the largest buffer on the stack

// `bytes`: size of the whole buffer. `in_parallel`: it is allocated inside a parallel loop.
ir::Scope ir_scope(const Target& target, MemoryScope scope, int64_t bytes, bool in_parallel);

// One thread may use a buffer of this memory alone. Passes move such a buffer to registers or to
// the stack where the code shows that it does. On a device the schedule says it, with the memory.
bool is_private_memory(ir::Scope scope);

// A step chose a memory for the buffer that is not its default and not private to a thread.
// promote_registers may move other buffers to registers or the stack.
bool is_pinned(const schedule::LoopTree& tree, schedule::BufferIndex buffer);

// Moves these buffers from a workspace to the stack, in order, while there is room: at most
// kStackBytes each, and 64 KiB in all. Each is used by one thread, and no step chose its memory.
void move_to_stack(ir::Function& function, std::span<const ir::BufferId> buffers);

// Checks that the target has shared memory if a buffer of a tree is in it.
Status check_scopes(const schedule::LoopTree& tree, const Target& target);

}  // namespace tilewright::lower
