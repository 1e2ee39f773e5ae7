#include "schedule/launch_limits.h"

#include <algorithm>
#include <array>

namespace tilewright::schedule {
namespace {

StageIndex root_of(const LoopTree& tree, StageIndex index) {
  while (tree.stage(index).place == Attachment::At) index = tree.stage(index).at_stage;
  return index;
}

}  // namespace

std::optional<LaunchFault> launch_fault(const LoopTree& tree, const Target& target) {
  std::array<std::array<int64_t, 3>, kMaxStages> blocks;  // of stages at root: threads in x, y, z
  blocks.fill({1, 1, 1});
  for (const LoopVar& var : tree.vars) {
    if (!var.is_loop() || var.bound == ThreadAxis::None) continue;
    if (tree.stage(var.stage).place == Attachment::Inlined) continue;
    const auto loop = static_cast<VarIndex>(&var - tree.vars.data());
    const int64_t limit = target.max_extent(var.bound);
    if (var.extent > limit) return LaunchFault{var.stage, loop, var.extent, limit};
    if (!is_thread(var.bound)) continue;
    const StageIndex root = root_of(tree, var.stage);
    auto& block = blocks[static_cast<size_t>(root)];
    int64_t& threads = block[static_cast<size_t>(dimension_of(var.bound))];
    threads = std::max(threads, var.extent);
    const int64_t together = block[0] * block[1] * block[2];
    if (together > target.threads_per_block()) {
      return LaunchFault{root, kNone, together, target.threads_per_block()};
    }
  }
  return std::nullopt;
}

}  // namespace tilewright::schedule
