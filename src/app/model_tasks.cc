#include "app/model_tasks.h"

#include "app/tune_tasks.h"

namespace tilewright::app {

Result<ModelTasks> model_tasks(const ModelOptions& options, const StopToken& stop) {
  const Target target = TRY(compiled_target_of(options.target, options.tables));
  const auto [plan, choices] =
      TRY(choose_model(options.model, target, options.records, options.tables, stop));
  ModelTasks out;
  for (size_t k = 0; k < plan.partition.kernels.size(); ++k) {
    const graph::Partition::Kernel& kernel = plan.partition.kernels[k];
    const graph::Group& group = plan.partition.groups[kernel.groups.front()];
    out.tasks.push_back({.key = Task{.workload = group.workload, .target = target}.key(),
                         .title = group.title,
                         .flop = group.workload.dag->flop(),
                         .bytes = operand_bytes(group.workload),
                         .weight = kernel.groups.size(),
                         .record = choices[k].record});
    const double ns = choices[k].record ? choices[k].record->verdict.latency_ns : 0;
    out.tuned += ns > 0 ? 1 : 0;
    out.tuned_ns += ns * static_cast<double>(kernel.groups.size());
  }
  return out;
}

}  // namespace tilewright::app
