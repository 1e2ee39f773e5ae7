// Emission: the state that all functions of one kernel share during emission. Its builder holds the
// insertion point. The first unsupported construct becomes the error of the kernel.
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

  Value unsupported(const std::string& what);  // null; sets the error if there was none
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
  const bool streams;                      // the function contains non-temporal stores
  const std::vector<bool> under_one_mask;  // per BufferId: see register_masks.h
  int tasks = 0;                           // number of task functions of parallel loops so far
  double promote_ms = 0;                   // CPU time
  std::string error;
};

}  // namespace tilewright::codegen
