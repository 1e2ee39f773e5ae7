// BuiltKernel: the result that a build worker passes to a run worker: an artifact, and the layouts
// of the constants that it reads. A value; its bytes are sent between processes.
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
  uint32_t operand = 0;  // index in Workload::operands
  layout::Layout layout;
};

// The constants that a program reads in packed form, with their layouts.
std::vector<PackedOperand> packed_operands(const Workload& workload,
                                           const schedule::LoopTree& tree);

struct BuiltKernel {
  runtime::Artifact artifact;
  std::vector<PackedOperand> packed;
};

}  // namespace tilewright::measure
