// CEmission: what all C functions of one kernel share while they are written. CFrame: one of them.
// The first thing that cannot be written is the error of the whole; the rest goes on with zeros.
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
  const unsigned limit;    // lanes of a piece
  std::string tasks_text;  // the functions of parallel loops so far
  int tasks = 0;
  std::string error;
};

struct CFrame {
  CText text = {};
  std::unordered_map<ir::VarId, CValue> vars = {};
  std::vector<std::string> buffers = {};  // the pointer, by BufferId; empty: not here
  std::unordered_map<ir::BufferId, CValue> registers = {};
  bool is_task = false;
  bool uses_workspace = false;
};

}  // namespace tilewright::codegen
