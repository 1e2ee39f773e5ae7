#include "tests/onnx/compute.h"

#include "deploy/compile_model.h"
#include "deploy/runner.h"
#include "target/target.h"

namespace tilewright::onnx {
namespace {

using graph::Constant;

Result<std::vector<Constant>> compute(const graph::Graph& graph, std::span<const Constant> inputs,
                                      const Target& target) {
  const auto plan = TRY(deploy::plan_model(graph, target));
  const auto choices = TRY(deploy::choose_schedules(plan, target, nullptr));
  const auto program = TRY(deploy::compile_model(plan, choices, target));
  auto runner = TRY(deploy::Runner::load(program));
  return runner.run(inputs);
}

}  // namespace

Compute compiled_compute() {
  return [target = host_target(1)](const graph::Graph& graph, std::span<const Constant> inputs) {
    return compute(graph, inputs, target);
  };
}

}  // namespace tilewright::onnx
