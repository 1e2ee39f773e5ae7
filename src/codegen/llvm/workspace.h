// Where the buffers of a function lie in the workspace of a call.
//
// A buffer's storage is free again after its Allocate, so buffers that are not alive together
// share it (a stack). Parts are padded so that neither two buffers nor two threads' buffers start
// at the same place modulo 4 KiB, where they would compete for the same sets of the L1 cache.
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
