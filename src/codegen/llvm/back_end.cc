#include "codegen/llvm/back_end.h"

#include <array>
#include <csignal>

#include "codegen/llvm/compile.h"
#include "codegen/llvm/crash_report.h"
#include "codegen/llvm/target_machine.h"
#include "lower/pipeline.h"
#include "runtime/host/loaders.h"

namespace tilewright::codegen {
namespace {

Result<std::vector<runtime::Artifact>> compile_all(std::span<const ir::Function> functions,
                                                   const Target& target,
                                                   const CompileOptions& options) {
  std::vector<runtime::Artifact> artifacts;
  for (const ir::Function& function : functions) {
    artifacts.push_back(TRY(
        compile_llvm(function, target, {.phases = options.phases, .on_phase = options.on_phase})));
  }
  return artifacts;
}

Result<std::string> text_of(const ir::Function& function, const Target& target,
                            const CompileOptions& options, std::string* LlvmOptions::* form) {
  std::string text;
  LlvmOptions with{.phases = options.phases, .on_phase = options.on_phase};
  with.*form = &text;
  TRY(compile_llvm(function, target, with));
  return text;
}

constexpr std::array kTexts = {
    TextForm{"llvm", "the LLVM IR",
             [](const ir::Function& function, const Target& target, const CompileOptions& options) {
               return text_of(function, target, options, &LlvmOptions::llvm_ir);
             }},
    TextForm{"assembly", "the machine code as assembly",
             [](const ir::Function& function, const Target& target, const CompileOptions& options) {
               return text_of(function, target, options, &LlvmOptions::assembly);
             }},
};

void enter_worker() {
  report_pass_on_crash();
  report_pass_on_signal(SIGPROF);
}

}  // namespace

const BackEnd& llvm_back_end() {
  static const BackEnd row = {
      .name = "llvm",
      .purpose = "machine code for this CPU",
      .targets = "x86-64",
      .serves = [](const Target& target) { return target.is_cpu(CpuArch::X86_64); },
      .check = check_llvm_target,
      .passes = lower::cpu_passes(),
      .compile = compile_all,
      .loader = runtime::find_loader(runtime::kElfArtifact),
      .texts = kTexts,
      .enter_worker = enter_worker,
      .probe = [] { return works_on(llvm_back_end(), host_target(1)); },
      .remedy = "apt-get install llvm-19-dev && ./dev test",
  };
  return row;
}

}  // namespace tilewright::codegen
