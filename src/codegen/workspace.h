// Where the buffers of a function lie in the workspace of a call.
//
// A buffer is alive from its first access to its last. A loop inside of its Allocate counts as a
// whole, since a later iteration may read what an earlier one wrote; so does, for a buffer of all
// threads, a Parallel loop around it. Buffers that are not alive together share storage: the
// largest is placed first, each at the lowest offset that is free while it lives.
//
//   b = f(a);  c = f(b);  d = f(c);  out = f(d)   ->   b and d at 0, c behind them
//
// Offsets are multiples of 64. Large buffers that are alive together do not start at the same place
// modulo 4 KiB, nor do the parts of two threads: they would compete for the same sets of the L1
// cache.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/stmt.h"

namespace tilewright::codegen {

struct WorkspacePlan {
  std::vector<int64_t> offset;  // by BufferId, in the shared or in the thread's part; else -1
  int64_t shared = 0;           // bytes for all threads
  int64_t per_thread = 0;       // bytes for each worker, behind the shared part
};

WorkspacePlan plan_workspace(const ir::Function& function);

}  // namespace tilewright::codegen
