// For tests of the run side: a task on a bench in this process, and kernels built for it here.
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

// Operands with inputs drawn and a reference that was judged: what the driver sets up.
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
  std::string error;  // why the reference was not believed
  std::unique_ptr<Workbench> bench;
};

}  // namespace tilewright::measure
