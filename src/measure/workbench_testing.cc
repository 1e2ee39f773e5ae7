#include "measure/workbench_testing.h"

#include <gtest/gtest.h>

#include "codegen/back_ends/build_kernel.h"
#include "heuristic/default_trace.h"
#include "oracle/draw_inputs.h"
#include "oracle/expectation.h"
#include "oracle/special_values.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::measure {
namespace {

constexpr double kTimeout = 10e9;

SharedOperands drawn(const Workload& workload) {
  SharedOperands operands = SharedOperands::create(workload).value();
  const Status status = oracle::draw_inputs(workload, 1, operands.sections());
  EXPECT_TRUE(status) << status.error().message;
  return operands;
}

}  // namespace

Task task_of_text(std::string_view text, int threads) {
  const Result<Workload> workload = parse_workload(text);
  EXPECT_TRUE(workload) << workload.error().message;
  return {.workload = workload.value(), .target = host_target(threads)};
}

BuiltKernel build_for_test(const Task& task, const schedule::Trace& trace) {
  const schedule::LoopTree initial = schedule::initial_tree(task.workload).value();
  const schedule::LoopTree tree = schedule::apply_or_explain(initial, trace).value();
  return {.artifact = codegen::build_artifact(task, tree, trace).value(),
          .packed = packed_operands(task.workload, tree)};
}

BuiltKernel build_default(const Task& task, int variant) {
  return build_for_test(task,
                        heuristic::default_trace(task.workload, task.target, variant).value());
}

TestBench::TestBench(Task the_task) : task(std::move(the_task)), operands(drawn(task.workload)) {
  Workbench first = Workbench::make(task, operands, {}, status).value();
  reference = first.make_reference(build_default(task), kTimeout, operands);
  if (auto judged = oracle::judge_reference(task.workload, operands.sections())) {
    tolerance = *judged;
  } else {
    error = judged.error().message;
  }
  if (const Status special =
          oracle::judge_special(task.workload, operands.sections(), operands.special_outputs());
      !special) {
    error += special.error().message;
  }
  bench = std::make_unique<Workbench>(Workbench::make(task, operands, tolerance, status).value());
}

}  // namespace tilewright::measure
