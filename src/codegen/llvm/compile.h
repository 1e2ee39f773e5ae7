// compile_llvm: loop IR -> one relocatable object, through LLVM's code generator only. Vectors,
// unrolling, FMA and register tiles are already in the IR, so no optimization pass runs except
// those inside the code generator. Only this folder includes LLVM.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codegen/back_end.h"
#include "ir/stmt.h"
#include "runtime/host/artifact.h"
#include "target/target.h"

namespace tilewright::codegen {

struct LlvmOptions {
  std::string* llvm_ir = nullptr;            // out: text of the module, if requested
  std::string* assembly = nullptr;           // out
  std::vector<PhaseTime>* phases = nullptr;  // out: CPU time of each phase
  std::function<void(std::string_view phase)> on_phase = {};  // called before "emit" and "codegen"
};

// May be called by several threads at once. The same function and target give the same bytes.
Result<runtime::Artifact> compile_llvm(const ir::Function& function, const Target& target,
                                       const LlvmOptions& options = {});

}  // namespace tilewright::codegen
