// For tests of the run side: a task on a workbench in this process, and kernels built for it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "measure/workbench.h"
#include "schedule/trace.h"

namespace tilewright::measure {

Task task_of_text(std::string_view text, int threads = 1);

BuiltKernel build_for_test(const Task& task, const schedule::Trace& trace);
BuiltKernel build_default(const Task& task, int variant = 0);

// Operands with drawn inputs and a validated reference, as the tuner sets them up.
struct TestBench {
  explicit TestBench(Task the_task);
  TestBench(const TestBench&) = delete;  // the workbench refers to it
  TestBench& operator=(const TestBench&) = delete;
  ~TestBench() = default;

  Task task;
  StatusBlock status{};
  SharedOperands operands;
  oracle::Tolerance tolerance;
  RunOutcome reference;
  std::string error;  // why the reference was rejected
  std::unique_ptr<Workbench> bench;
};

}  // namespace tilewright::measure
