#include "app/model_tasks.h"

namespace tilewright::app {

Result<std::vector<ModelTask>> model_tasks(const ModelOptions& options) {
  const Target target = TRY(compiled_target_of(options.target));
  const auto [plan, choices] = TRY(choose_model(options.model, target, options.records));
  std::vector<ModelTask> tasks;
  for (size_t k = 0; k < plan.partition.kernels.size(); ++k) {
    const graph::Partition::Kernel& kernel = plan.partition.kernels[k];
    const graph::Group& group = plan.partition.groups[kernel.groups.front()];
    tasks.push_back({.key = Task{.workload = group.workload, .target = target}.key(),
                     .title = group.title,
                     .flop = group.workload.dag->flop(),
                     .weight = kernel.groups.size(),
                     .record = choices[k].record});
  }
  return tasks;
}

}  // namespace tilewright::app
