// One program held against everything that can judge it: interpreter of the nest, interpreter of
// the fully lowered IR, LLVM, and te/eval; and regions against the elements that were touched.
#pragma once

#include <optional>
#include <string>

#include "schedule/loop_tree.h"
#include "schedule/trace.h"
#include "task/workload.h"

namespace tilewright::testing {

struct RegionCount {
  int64_t checked = 0;  // touched elements held against a region
};

// What is wrong, with operator and trace; nothing when all agree. Inputs are small integers, so
// that sums are exact and all results are compared bit by bit; where the operator divides or
// exponentiates, te/eval is held to a relative error instead. `seed` decides the inputs.
std::optional<std::string> check_program(const Task& task, const schedule::LoopTree& tree,
                                         const schedule::Trace& trace, uint64_t seed,
                                         RegionCount* regions);

}  // namespace tilewright::testing
