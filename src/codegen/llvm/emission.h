// Emission: what all functions of one kernel share while they are emitted. Its builder says where
// the next instruction goes; the first thing that cannot be emitted is the error of the whole.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "codegen/faults.h"
#include "codegen/llvm/atoms.h"
#include "codegen/llvm/types.h"
#include "codegen/workspace.h"
#include "ir/stmt.h"
#include "target/target.h"

namespace tilewright::codegen {

struct Emission {
  Emission(const ir::Function& the_function, const Target& the_target,
           const WorkspacePlan& the_plan, std::string the_symbol, llvm::Module& the_module);

  Value unsupported(const std::string& what);  // null, and the error where there was none
  llvm::Constant* index(int64_t value) { return builder.getInt64(static_cast<uint64_t>(value)); }
  void set_attributes(llvm::Function* made) const;

  const ir::Function& function;
  const Target& target;
  const WorkspacePlan& plan;
  const std::string symbol;
  llvm::Module& module;
  llvm::LLVMContext& context;
  llvm::IRBuilder<> builder;
  const Types types;
  const Faults faults;
  AtomTable atoms;
  const bool streams;                      // stores past the caches, somewhere in the function
  const std::vector<bool> under_one_mask;  // by BufferId: register_masks.h
  int tasks = 0;                           // functions of parallel loops so far
  double promote_ms = 0;                   // CPU time
  std::string error;
};

}  // namespace tilewright::codegen
