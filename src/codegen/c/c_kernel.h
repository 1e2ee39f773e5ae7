// One loop-IR function -> functions of a C source. Internal to this folder.
//
//   SYMBOL(call)        loads the pointers of the call and calls
//   SYMBOL_body(...)    which takes them as restrict parameters; each Parallel loop in it
//   SYMBOL_task0(...)   becomes a function of one iteration, handed to tilewright_parallel_for
//
// Each C function has its own state: a CText with its names, a CExprEmitter with its masks and
// shared values, a CStmtEmitter. What the functions of a kernel share is a CEmission.
#pragma once

#include <string>

#include "base/result.h"
#include "codegen/c/helpers.h"
#include "codegen/workspace.h"
#include "ir/stmt.h"
#include "target/target.h"

namespace tilewright::codegen {

struct CKernelText {
  std::string text;  // the definitions, that of SYMBOL last
  bool is_parallel = false;
};

// An error of kind Unsupported names what cannot be written.
Result<CKernelText> write_kernel(const ir::Function& function, const Target& target,
                                 const WorkspacePlan& plan, const std::string& symbol,
                                 Helpers& helpers);

}  // namespace tilewright::codegen
