// From a Graph to a ModelPlan: passes, partition into kernels, places of values in memory.
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

// A Graph after its passes, cut into kernels, with places for its values.
struct ModelPlan {
  graph::Graph graph;
  graph::Partition partition;
  graph::MemoryPlan memory;
};
// `passes.off` may name the steps after the passes too (plan_steps), which is the same as the
// option of each.
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
// Large constants are folded by kernels of the default schedule, built for `target`, or for this
// machine where it cannot run those, unless the passes have an `execute` of their own.
Result<ModelPlan> plan_model(const graph::Graph& graph, const Target& target,
                             const PlanOptions& options = {});

// Computes constants by kernels of the default schedule. What was built is kept for Dags that
// compute the same. Safe from several threads.
graph::Execute execute_on(const Target& target, const BackEndTables& tables = {});

}  // namespace tilewright::deploy
