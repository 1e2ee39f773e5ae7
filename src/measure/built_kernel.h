// BuiltKernel: what a build worker hands to a run worker: an artifact and the layouts of the
// constants that it reads. A value; its bytes travel between processes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"
#include "runtime/host/kernel.h"
#include "schedule/loop_tree.h"
#include "task/workload.h"

namespace tilewright::measure {

struct PackedOperand {
  uint32_t operand = 0;  // of Workload::operands
  layout::Layout layout;
};

// The constants that a program wants packed, and how.
std::vector<PackedOperand> packed_operands(const Workload& workload,
                                           const schedule::LoopTree& tree);

struct BuiltKernel {
  runtime::Artifact artifact;
  std::vector<PackedOperand> packed;
};

}  // namespace tilewright::measure
