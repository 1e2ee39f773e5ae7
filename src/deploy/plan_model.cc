#include "deploy/plan_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "codegen/back_ends/build_kernel.h"
#include "graph/op_table.h"
#include "graph/separate_outputs.h"
#include "heuristic/default_trace.h"
#include "runtime/host/buffer.h"
#include "runtime/host/kernel.h"
#include "schedule/apply.h"

namespace tilewright::deploy {
namespace {

using graph::Constant;

class Executor {
 public:
  Executor(const Target& target, const BackEndTables& tables, const FloatPermissions& permissions)
      : target_(target), tables_(tables), permissions_(permissions) {}

  Result<std::vector<Constant>> run(const te::Dag& dag, std::span<const Constant> inputs) {
    const Task task{
        .workload = make_workload(std::make_shared<te::Dag>(dag), {}, "fold", permissions_),
        .target = target_};
    const std::shared_ptr<const runtime::Kernel> kernel = TRY(kernel_of(task));

    std::vector<runtime::AlignedBuffer> copies;
    std::vector<std::shared_ptr<runtime::AlignedBuffer>> outputs;
    std::vector<void*> arguments;
    for (const Constant& input : inputs) {
      // A kernel does not write its inputs.
      auto* data = const_cast<std::byte*>(input.bytes().data());  // NOLINT
      if (reinterpret_cast<uintptr_t>(data) % 64 != 0) {
        copies.emplace_back(static_cast<int64_t>(input.bytes().size()));
        std::memcpy(copies.back().data(), data, input.bytes().size());
        data = copies.back().as<std::byte>();
      }
      arguments.push_back(data);
    }
    for (const te::TensorId id : dag.outputs()) {
      outputs.push_back(
          std::make_shared<runtime::AlignedBuffer>(graph::tensor_type(dag.tensor(id)).bytes()));
      arguments.push_back(outputs.back()->data());
    }
    if (runtime::call_once(*kernel, arguments, target_.threads()) != TILEWRIGHT_STATUS_OK) {
      return fail(ErrorKind::Io, "a constant could not be computed: no threads");
    }
    std::vector<Constant> results;
    for (size_t k = 0; k < outputs.size(); ++k) {
      const std::span<const std::byte> bytes(outputs[k]->as<const std::byte>(),
                                             static_cast<size_t>(outputs[k]->size()));
      results.emplace_back(graph::tensor_type(dag.tensor(dag.outputs()[k])), outputs[k], bytes);
    }
    return results;
  }

 private:
  Result<std::shared_ptr<const runtime::Kernel>> kernel_of(const Task& task) {
    const Hash128 key = task.workload.key();
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
    }
    std::shared_ptr<const runtime::Kernel> made = TRY(build(task));
    const std::lock_guard lock(mutex_);
    return kernels_.emplace(key, std::move(made)).first->second;
  }

  Result<std::shared_ptr<const runtime::Kernel>> build(const Task& task) const {
    const schedule::Trace trace = TRY(heuristic::default_trace(task.workload, task.target));
    const schedule::LoopTree initial = TRY(schedule::initial_tree(task.workload));
    const schedule::LoopTree tree = TRY(schedule::apply_or_explain(initial, trace));
    const codegen::BackEnd* const back_end =
        TRY(codegen::back_end_for(task.target, tables_.back_ends));
    const runtime::Artifact artifact =
        TRY(codegen::build_artifact(task, tree, trace, {.back_end = back_end}));
    return std::make_shared<const runtime::Kernel>(
        TRY(runtime::Kernel::load(artifact, tables_.loaders)));
  }

  Target target_;
  BackEndTables tables_;
  FloatPermissions permissions_;
  std::mutex mutex_;
  std::unordered_map<Hash128, std::shared_ptr<const runtime::Kernel>> kernels_;
};

constexpr std::array kSteps = {
    PlanStep{"fuse", "several nodes in a kernel; without it there is no concat in place either",
             [](PlanOptions& options) { options.partition.fuse = false; }},
    PlanStep{"concat_in_place", "parts of a concat are written directly into the result",
             [](PlanOptions& options) { options.partition.concat_in_place = false; }},
    PlanStep{"pack_weights", "weights are packed for the kernel that reads them",
             [](PlanOptions& options) { options.partition.pack_weights = false; }},
    PlanStep{"reuse_memory", "values with disjoint lifetimes share memory",
             [](PlanOptions& options) { options.memory.reuse = false; }},
};

// The names of steps become options; the others name passes.
Result<PlanOptions> with_steps(const PlanOptions& given) {
  PlanOptions options = given;
  options.passes.off.clear();
  for (const std::string& name : given.passes.off) {
    const auto step = std::ranges::find(kSteps, name, &PlanStep::name);
    if (step != kSteps.end()) {
      step->leave_out(options);
    } else if (std::ranges::count(graph::all_passes(), name, &graph::Pass::name) > 0) {
      options.passes.off.push_back(name);
    } else {
      std::vector<std::string_view> names;
      for (const graph::Pass& pass : graph::all_passes()) {
        if (std::ranges::count(names, pass.name) == 0) names.push_back(pass.name);
      }
      for (const PlanStep& one : kSteps) names.push_back(one.name);
      return fail(ErrorKind::BadInput, fmt::format("there is no pass '{}'; passes are {}", name,
                                                   fmt::join(names, ", ")));
    }
  }
  return options;
}

}  // namespace

std::span<const PlanStep> plan_steps() { return kSteps; }

graph::Execute execute_on(const Target& target, const BackEndTables& tables,
                          const FloatPermissions& permissions) {
  return [executor = std::make_shared<Executor>(target, tables, permissions)](
             const te::Dag& dag, std::span<const Constant> inputs) {
    return executor->run(dag, inputs);
  };
}

Result<ModelPlan> plan_model(const graph::Graph& graph, const Target& target,
                             const PlanOptions& given) {
  const PlanOptions options = TRY(with_steps(given));
  graph::PassOptions passes = options.passes;
  if (!passes.execute) {
    const bool executes = check_executable(target, options.tables).has_value();
    FloatPermissions permissions;
    permissions.denormals = passes.permissions.denormals;
    passes.execute =
        execute_on(executes ? target : host_target(target.threads()), options.tables, permissions);
  }
  graph::Graph passed = TRY(graph::run_passes(graph, passes));
  TRY(check_not_stopped(passes.stop));
  passed = TRY(graph::separate_outputs(passed));
  graph::PartitionOptions kernels = options.partition;
  kernels.permissions.denormals |= passes.permissions.denormals;
  graph::Partition partition = TRY(graph::partition(passed, kernels));
  TRY(check_not_stopped(passes.stop));
  graph::MemoryPlan memory = TRY(graph::plan_memory(passed, partition, options.memory));
  return ModelPlan{
      .graph = std::move(passed), .partition = std::move(partition), .memory = std::move(memory)};
}

}  // namespace tilewright::deploy
