// One loop-IR function -> functions of an LLVM module. Internal to this folder.
//
//   kernel(call)      loads the pointers of the call and calls
//   kernel.body(...)  which takes each argument as a noalias parameter; each Parallel loop in it
//   kernel.task(...)  becomes a function of one iteration, handed to tilewright_parallel_for
//
// Loads and stores promise the alignment of the element only: wider promises gain nothing on x86.
//
// Each LLVM function has its own state: a Frame with its levels and control flow, an ExprEmitter
// with its masks and shared values, Addresses, Stores, a StmtEmitter. What the functions of a
// kernel share is an Emission.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "base/result.h"
#include "codegen/workspace.h"
#include "ir/stmt.h"
#include "target/target.h"

namespace tilewright::codegen {

// The CPU milliseconds that went into promoting registers. An error of kind Unsupported names what
// cannot be emitted.
Result<double> emit_kernel(const ir::Function& function, const Target& target,
                           const WorkspacePlan& plan, const std::string& symbol,
                           llvm::Module& module);

}  // namespace tilewright::codegen
