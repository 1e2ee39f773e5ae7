// The program of a golden file: its task and schedule, and the check of its code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "golden_file.h"
#include "ir/stmt.h"
#include "lower/pipeline.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"
#include "task/workload.h"
#include "tests/differential/operands.h"

namespace tilewright::testing {

struct GoldenProgram {
  GoldenFile file;
  Task task;
  schedule::Trace trace;
  schedule::LoopTree tree;

  Result<ir::Function> lowered(const lower::LowerOptions& options = {}) const {
    return lower::lower(task.workload, task.target, tree, trace, options);
  }
};

std::vector<std::string> golden_names();  // of all files, in order
std::filesystem::path golden_path(const std::string& name);
Result<GoldenProgram> load_golden_program(const std::string& name);

// Operands with small random numbers; constants are packed as in the schedule.
Memory golden_operands(const GoldenProgram& program);

// Fails the test unless the interpreter and LLVM compute the same bits, which must equal, up to
// rounding, the results of the loop nest before all passes. The machine must be able to run code
// for the target.
void expect_right(const GoldenProgram& program, const ir::Function& function);

}  // namespace tilewright::testing
