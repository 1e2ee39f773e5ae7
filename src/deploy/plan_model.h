// plan_model: Graph -> ModelPlan: passes, partition into kernels, memory plan.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "deploy/back_end_tables.h"
#include "graph/evaluate.h"
#include "graph/graph.h"
#include "graph/memory_plan.h"
#include "graph/partition.h"
#include "graph/passes.h"
#include "target/target.h"

namespace tilewright::deploy {

// A Graph after its passes, partitioned into kernels, with the locations of its values.
struct ModelPlan {
  graph::Graph graph;
  graph::Partition partition;
  graph::MemoryPlan memory;
};
// `passes.off` may also name the steps after the passes (plan_steps), with the same effect as the
// option of each. `passes.stop` ends these steps too.
struct PlanOptions {
  graph::PassOptions passes;
  graph::PartitionOptions partition;
  graph::MemoryOptions memory;
  BackEndTables tables;  // that large constants are folded by
};
struct PlanStep {
  std::string_view name;
  std::string_view doc;
  void (*leave_out)(PlanOptions& options);
};
std::span<const PlanStep> plan_steps();
// Large constants are folded by kernels with the default schedule, built for `target`, or for this
// machine if it cannot run code for `target`, unless the passes have their own `execute`.
Result<ModelPlan> plan_model(const graph::Graph& graph, const Target& target,
                             const PlanOptions& options = {});

// Evaluates constants by kernels with the default schedule and these permissions. Kernels are
// cached for equal Dags. Thread-safe.
graph::Execute execute_on(const Target& target, const BackEndTables& tables = {},
                          const FloatPermissions& permissions = {});

}  // namespace tilewright::deploy
