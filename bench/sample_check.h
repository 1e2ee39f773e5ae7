// Single elements of a kernel's outputs against the definition of the operator (te/eval, in f64):
// the first, the last and some random ones. It needs no peer; the harness compares whole outputs
// with those of peers.
#pragma once

#include <optional>
#include <string>

#include "codegen/back_ends/bound_kernel_testing.h"
#include "task/workload.h"

namespace tilewright::bench {

// Checks the outputs after a run of `kernel`, all f32. Returns nothing or the error, such as
// `Y[0, 3, 1] is 0.25 where the definition gives 0.5`. An element may differ by 1e-4 of the largest
// element of its tensor.
std::optional<std::string> find_wrong_sample(const Workload& workload,
                                             codegen::BoundKernel& kernel);

}  // namespace tilewright::bench
