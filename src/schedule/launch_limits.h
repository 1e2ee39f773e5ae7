// Limits of a target on bound loops: the extent of each, and the threads of a block. `apply` has
// no target, so lowering and validity check them on the finished tree.
//
//   bind C i.0 thread_y, i.0 < 64; bind C j.0 thread_x, j.0 < 32     2048 threads; a block has 1024
#pragma once

#include <optional>

#include "schedule/loop_tree.h"
#include "target/target.h"

namespace tilewright::schedule {

struct LaunchFault {
  StageIndex stage = kNone;
  VarIndex loop = kNone;  // kNone: the threads of a block, which is that of a stage at root
  int64_t wanted = 0;
  int64_t limit = 0;
};

// The first limit that the loops of a complete tree exceed. A stage at root and all that is
// attached in it run in one launch, whose block has room for the largest loop of each axis.
std::optional<LaunchFault> launch_fault(const LoopTree& tree, const Target& target);

}  // namespace tilewright::schedule
