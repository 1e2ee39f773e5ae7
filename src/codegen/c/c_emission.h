// CEmission: the state that all C functions of one kernel share during emission. CFrame: the state
// of one function. The first unsupported construct becomes the error of the kernel; emission
// continues with zeros.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/c/c_values.h"
#include "codegen/faults.h"
#include "codegen/workspace.h"
#include "ir/stmt.h"

namespace tilewright::codegen {

struct CEmission {
  const ir::Function& function;
  const WorkspacePlan& plan;
  const std::string symbol;
  Helpers& helpers;
  const unsigned limit;    // lanes per piece
  std::string tasks_text;  // the task functions of parallel loops so far
  int tasks = 0;
  std::string error;
};

struct CFrame {
  CText text = {};
  std::unordered_map<ir::VarId, CValue> vars = {};
  std::vector<std::string> buffers = {};  // pointer names, by BufferId; empty: not available
  std::unordered_map<ir::BufferId, CValue> registers = {};
  bool is_task = false;
  bool uses_workspace = false;
};

}  // namespace tilewright::codegen
