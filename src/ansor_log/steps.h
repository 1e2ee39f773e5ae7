// The schedules of Ansor (TVM's auto_scheduler) as traces of ours. Ansor names stages and loops by
// their positions, and positions shift: a cache_write or rfactor puts its stage before the one it
// is of, a cache_read behind it; a split puts its parts in the place of the loop, a fusion
// likewise. So its steps are walked with the list of stages and loops that they act upon, and each
// is written down in names:
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
// Stages are numbered as Ansor orders them: inputs count, and producers come before their readers,
// along a depth-first walk from the outputs. Constants of the workload are packed for their reader
// where that is legal: Ansor lays them out when it builds.
#pragma once

#include "base/json_fwd.h"
#include "base/result.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"

namespace tilewright::ansor_log {

// A legal trace of the workload that `initial` is of, or the reason why there is none: the step,
// by its number from 0, and what is wrong with it.
Result<schedule::Trace> trace_of_steps(const Json& steps, const schedule::LoopTree& initial);

// The stages as Ansor numbers them before any step; for messages and tests.
std::vector<std::string> stage_names(const schedule::LoopTree& initial);

}  // namespace tilewright::ansor_log
