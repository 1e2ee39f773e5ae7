// Single elements of a kernel's outputs against the definition of the operator (te/eval, in f64):
// the first, the last and some at random. It needs no peer; a comparison of the whole output with
// a peer's is the orchestrator's part.
#pragma once

#include <optional>
#include <string>

#include "codegen/back_ends/build_kernel.h"
#include "task/workload.h"

namespace tilewright::bench {

// After a run of `kernel`, f32 throughout: nothing, or what is wrong, such as
// `Y[0, 3, 1] is 0.25 where the definition gives 0.5`. An element may be off by 1e-4 of the largest
// of its tensor.
std::optional<std::string> find_wrong_sample(const Workload& workload,
                                             codegen::BoundKernel& kernel);

}  // namespace tilewright::bench
