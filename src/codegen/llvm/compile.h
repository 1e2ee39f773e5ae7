// Loop IR -> one relocatable object, through LLVM's code generator alone: vectors, unrolling, FMA
// and register tiles are in the IR already, so no LLVM optimization pass runs but what the code
// generator has of its own. Only this folder includes LLVM.
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
  std::string* llvm_ir = nullptr;            // out: the module's text, when asked for
  std::string* assembly = nullptr;           // out
  std::vector<PhaseTime>* phases = nullptr;  // out: CPU time of each
  std::function<void(std::string_view phase)> on_phase = {};  // told before "emit" and "codegen"
};

// An error that says what an x86-64 target lacks where no kernels can be made for it.
Status check_llvm_target(const Target& target);

// May be called from several threads at once. Same function and target in, same bytes out.
Result<runtime::Artifact> compile_llvm(const ir::Function& function, const Target& target,
                                       const LlvmOptions& options = {});

}  // namespace tilewright::codegen
