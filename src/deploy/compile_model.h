// From a Graph to a Program: a schedule is chosen for each kernel, from the records or, where there
// is none, the default one; kernels are built, constants packed as their kernels want them. The
// same plan, choices and target give the same Program.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "deploy/program.h"
#include "graph/evaluate.h"
#include "graph/graph.h"
#include "graph/memory_plan.h"
#include "graph/partition.h"
#include "graph/passes.h"
#include "record/store.h"
#include "schedule/trace.h"

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

// One kernel as a model of its own: its inputs and outputs by the names of their tensors. The
// constants in the order of its operands, of their types (a CHECK).
ModelPlan plan_workload(const Workload& workload, std::span<const graph::Constant> constants);

// Computes constants by kernels of the default schedule. What was built is kept for Dags that
// compute the same. Safe from several threads.
graph::Execute execute_on(const Target& target);

// What a kernel is compiled with.
struct Choice {
  schedule::Trace trace;
  // What the trace speaks of where that is not the group's workload: one of the same content, in
  // which stages and axes have other names.
  std::shared_ptr<const Workload> workload;
  std::optional<record::Attempt> record;  // of it; none: the default schedule, never measured
  std::string note;                       // why it is not tuned, and the nearest record, where so
};
// One per kernel of the partition: the best record whose trace applies, of the protocol
// weights_cold if there is one, else of another, which the note then says; of this machine if it
// has any. The best is the winner of the last finals, which `tune` shows, inside a model or not,
// unless something that took less time has been found since. Without a store all are default
// schedules.
Result<std::vector<Choice>> choose_schedules(const ModelPlan& plan, const Target& target,
                                             record::Store* store);
// Those, and what might be faster still in the model: by kernel up to `most` records whose traces
// apply, of programs that differ, best first. At least one, which is what choose_schedules gives.
Result<std::vector<std::vector<Choice>>> choose_finalists(const ModelPlan& plan,
                                                          const Target& target,
                                                          record::Store* store, size_t most);
// What took part in the last finals of a task, fastest first: inside a model where those came last,
// else with cold weights. On `machine` only where one is given.
Result<std::vector<record::Attempt>> last_finals(record::Store& store, Hash128 task,
                                                 std::optional<Hash128> machine);

struct CompileOptions {
  std::string name = "model";  // what is no letter, digit or _ becomes _
  bool c_source = false;       // C beside the objects
  int jobs = 0;                // kernels built at once; 0: as many as cpus
  std::function<void(size_t done, size_t all)> progress = {};  // from any thread, one at a time
};
Result<Program> compile_model(const ModelPlan& plan, std::span<const Choice> choices,
                              const Target& target, const CompileOptions& options = {});

}  // namespace tilewright::deploy
