// Stages and loops as Ansor (TVM's auto_scheduler) numbers them: what its steps name by position.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/loop_tree.h"

namespace tilewright::ansor_log {

struct Loop {
  std::string name;
  int64_t extent = 0;  // of the whole axis, not of what an attached stage computes of it
  bool reduce = false;
};

// A stage as the steps so far have left it.
struct StageState {
  std::string name;
  bool input = false;
  std::vector<Loop> loops;
  std::string target, at;  // compute_at: stage and loop; empty: not attached
  int64_t unroll = 0;      // auto_unroll_max_step
};

// A depth-first walk from the outputs numbers the stages as it meets them; then, producers before
// readers, of those that are ready the one met last comes first. Inputs count.
std::vector<schedule::StageIndex> stage_order(const schedule::LoopTree& tree);

StageState state_of(const schedule::LoopTree& tree, schedule::StageIndex index);

}  // namespace tilewright::ansor_log
