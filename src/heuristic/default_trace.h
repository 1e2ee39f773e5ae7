// The default schedule: what a workload is compiled to when nothing better is known, and what
// results are checked against. Right for every workload and target, decent in speed, made without
// search:
//
//   pure elementwise producers are inlined; the outermost spatial loops of each root stage are
//   fused and parallel; the innermost spatial loop that all stores walk is a vector, inside of the
//   reduction, so that sums are kept in registers
//
// `variant` 1 is another schedule of the same kind, with other tiles and without vectors: the
// second opinion on the first one's output. Only where scalars would take seconds does it have
// vectors, others than the first.
#pragma once

#include "base/result.h"
#include "schedule/trace.h"
#include "target/target.h"
#include "task/workload.h"

namespace tilewright::heuristic {

inline constexpr double kScalarFlop = 4e9;  // up to here variant 1 is without vectors

Result<schedule::Trace> default_trace(const Workload& workload, const Target& target,
                                      int variant = 0);

}  // namespace tilewright::heuristic
