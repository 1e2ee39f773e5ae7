// emit_kernel: one loop-IR function -> functions of an LLVM module. Internal to this folder.
//
//   kernel(call)      loads the pointers of the call and calls
//   kernel.body(...)  which takes each argument as a noalias parameter; each Parallel loop in it
//   kernel.task(...)  becomes a function of one iteration, passed to tilewright_parallel_for
//
// Loads and stores assume only the alignment of the element: larger alignment gains nothing on x86.
//
// Each LLVM function has separate state: a Frame with its levels and control flow, an ExprEmitter
// with its masks and shared values, Addresses, Stores, a StmtEmitter. An Emission holds the state
// shared by the functions of a kernel.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "base/result.h"
#include "codegen/workspace.h"
#include "ir/stmt.h"
#include "target/target.h"

namespace tilewright::codegen {

// Returns the CPU milliseconds spent on promoting registers. An error of kind Unsupported names the
// unsupported construct.
Result<double> emit_kernel(const ir::Function& function, const Target& target,
                           const WorkspacePlan& plan, const std::string& symbol,
                           llvm::Module& module);

}  // namespace tilewright::codegen
