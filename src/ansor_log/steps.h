// Converts schedules of Ansor (TVM's auto_scheduler) to traces. Ansor names stages and loops by
// position, and positions shift: a cache_write or rfactor inserts its stage before the original, a
// cache_read after it; a split replaces the loop by its parts, and so does a fusion. The steps are
// therefore replayed on a list of stages and loops, and each is written with names:
//
//   SP stage loop extent [lengths] 1     split       lengths are the inner parts, outermost first
//   FSP stage loop step n                follow_split, n + 1 parts
//   FFSP stage loop [steps] level 1      follow_fused_split
//   FU RE AN CI CR CHW CHR RF            fuse reorder annotate|bind compute_inline compute_root
//                                        cache_write cache_read rfactor
//   CA stage target loop                 compute_at, where later splits and fusions left the loop
//   PR auto_unroll_max_step$n            the innermost loops of the stage that have up to n
//                                        iterations together are unrolled, where that is legal
//
// Stages are numbered in Ansor's order: inputs count, and producers come before their readers,
// along a depth-first traversal from the outputs. Constants of the workload are packed for their
// reader if that is legal, as Ansor does when it builds.
#pragma once

#include "base/json_fwd.h"
#include "base/result.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"

namespace tilewright::ansor_log {

// A legal trace for the workload of `initial`, or an error with the number of the step (from 0) and
// the problem.
Result<schedule::Trace> trace_of_steps(const Json& steps, const schedule::LoopTree& initial);

// The stages in Ansor's numbering before any step; for messages and tests.
std::vector<std::string> stage_names(const schedule::LoopTree& initial);

}  // namespace tilewright::ansor_log
