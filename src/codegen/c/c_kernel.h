// write_kernel: one loop-IR function -> functions of a C source. Internal to this folder.
//
//   SYMBOL(call)        loads the pointers of the call and calls
//   SYMBOL_body(...)    which takes them as restrict parameters; each Parallel loop in it
//   SYMBOL_task0(...)   becomes a function of one iteration, passed to tilewright_parallel_for
//
// Each C function has separate state: a CText with its names, a CExprEmitter with its masks and
// shared values, a CStmtEmitter. A CEmission holds the state shared by the functions of a kernel.
#pragma once

#include <string>

#include "base/result.h"
#include "codegen/c/helpers.h"
#include "codegen/workspace.h"
#include "ir/stmt.h"
#include "target/target.h"

namespace tilewright::codegen {

struct CKernelText {
  std::string text;  // the definitions, with SYMBOL last
  bool is_parallel = false;
};

// An error of kind Unsupported names the unsupported construct.
Result<CKernelText> write_kernel(const ir::Function& function, const Target& target,
                                 const WorkspacePlan& plan, const std::string& symbol,
                                 Helpers& helpers);

}  // namespace tilewright::codegen
