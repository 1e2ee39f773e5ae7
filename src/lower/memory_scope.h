// Maps the memory of a LoopTree's buffers (schedule::memory_scope) to scopes of the loop IR. This
// is the only place that decides whether a thread-private buffer is on the stack or in a workspace.
//
//   register, local   Stack up to 16 KiB; beyond, Thread inside of a parallel loop, else Workspace
//   shared            Shared
//   global            Workspace; Thread inside of a parallel loop, whose iterations share nothing
//
// Where no step chose the memory, a buffer of one thread moves to the stack (move_to_stack), unless
// promote_registers keeps it in registers.
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
ir::Scope ir_scope(MemoryScope scope, int64_t bytes, bool in_parallel);

// A step chose a memory for the buffer that is not its default and not private to a thread.
// promote_registers may move other buffers to registers or the stack.
bool is_pinned(const schedule::LoopTree& tree, schedule::BufferIndex buffer);

// Moves these buffers from a workspace to the stack, in order, while there is room: at most
// kStackBytes each, and 64 KiB in all. Each is used by one thread, and no step chose its memory.
void move_to_stack(ir::Function& function, std::span<const ir::BufferId> buffers);

// The target has the memories that the buffers of a tree live in.
Status check_scopes(const schedule::LoopTree& tree, const Target& target);

}  // namespace tilewright::lower
