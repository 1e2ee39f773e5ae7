// Assigns offsets in the workspace of a call to the buffers of a function.
//
// A buffer is live from its first access to its last. A loop inside its Allocate counts as a whole,
// because a later iteration may read what an earlier one wrote; so does a Parallel loop around a
// buffer shared by all threads. Buffers that are not live at the same time share storage: the
// largest is placed first, each at the lowest offset that is free during its lifetime.
//
//   b = f(a);  c = f(b);  d = f(c);  out = f(d)   ->   b and d at 0, c after them
//
// Offsets are multiples of 64. Large buffers that are live together start at different offsets
// modulo 4 KiB, and so do the parts of two threads: otherwise they would compete for the same sets
// of the L1 cache.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/stmt.h"

namespace tilewright::codegen {

struct WorkspacePlan {
  // By BufferId, in the shared part or the part of a thread; otherwise -1.
  std::vector<int64_t> offset;
  int64_t shared = 0;      // bytes for all threads
  int64_t per_thread = 0;  // bytes per worker, after the shared part
};

WorkspacePlan plan_workspace(const ir::Function& function);

}  // namespace tilewright::codegen
