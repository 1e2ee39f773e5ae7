// The default schedule: used to compile a workload without records, and to compute the reference.
// It is correct for every workload and target, reasonably fast, and needs no search:
//
//   pure elementwise producers are inlined; the outermost spatial loops of each root stage are
//   fused and parallel; the innermost spatial loop of the stores is vectorized, inside the
//   reduction, so that accumulators stay in registers; an inverse transform by constant matrices
//   (Winograd) is computed at the tiles of its reader
//
// `variant` 1 is a second schedule with other tiles and without vectors, whose output validates
// that of the first. If scalar code would take seconds, it has vectors, but different ones.
#pragma once

#include "base/hash.h"
#include "base/result.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"
#include "target/target.h"
#include "task/workload.h"

namespace tilewright::heuristic {

inline constexpr double kScalarFlop = 4e9;  // up to this work, variant 1 has no vectors

Result<schedule::Trace> default_trace(const Workload& workload, const Target& target,
                                      int variant = 0);

// The program of the default schedule. The task outlives the tree.
struct DefaultProgram {
  schedule::Trace trace;
  schedule::LoopTree tree;
  Hash128 program;
};
Result<DefaultProgram> default_program(const Task& task);

}  // namespace tilewright::heuristic
