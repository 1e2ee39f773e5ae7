// Stages and loops in the numbering of Ansor (TVM's auto_scheduler), whose steps refer to them by
// position.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/loop_tree.h"

namespace tilewright::ansor_log {

struct Loop {
  std::string name;
  int64_t extent = 0;  // of the whole axis, not of the region that an attached stage computes
  bool reduce = false;
};

// The state of a stage after the steps so far.
struct StageState {
  std::string name;
  bool input = false;
  std::vector<Loop> loops;
  std::string target, at;  // compute_at: stage and loop; empty: not attached
  int64_t unroll = 0;      // auto_unroll_max_step
};

// Stages are numbered by a depth-first traversal from the outputs. Then, producers before readers,
// the ready stage that was visited last comes first. Inputs count.
std::vector<schedule::StageIndex> stage_order(const schedule::LoopTree& tree);

StageState state_of(const schedule::LoopTree& tree, schedule::StageIndex index);

}  // namespace tilewright::ansor_log
