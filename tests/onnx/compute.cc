#include "tests/onnx/compute.h"

#include "deploy/compile_model.h"
#include "deploy/runner.h"
#include "target/target.h"

namespace tilewright::onnx {
namespace {

using graph::Constant;

Result<std::vector<Constant>> compute(const graph::Graph& graph, std::span<const Constant> inputs,
                                      const Target& target) {
  const auto plan = deploy::plan_model(graph, target);
  if (!plan) return std::unexpected(plan.error());
  const auto choices = deploy::choose_schedules(*plan, target, nullptr);
  if (!choices) return std::unexpected(choices.error());
  const auto program = deploy::compile_model(*plan, *choices, target);
  if (!program) return std::unexpected(program.error());
  auto runner = deploy::Runner::load(*program);
  if (!runner) return std::unexpected(runner.error());
  return runner->run(inputs);
}

}  // namespace

Compute compiled_compute() {
  return [target = host_target(1)](const graph::Graph& graph, std::span<const Constant> inputs) {
    return compute(graph, inputs, target);
  };
}

}  // namespace tilewright::onnx
