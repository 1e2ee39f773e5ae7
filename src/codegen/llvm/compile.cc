#include "codegen/llvm/compile.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "codegen/kernel_symbol.h"
#include "codegen/llvm/kernel_emitter.h"
#include "codegen/llvm/target_machine.h"
#include "codegen/workspace.h"
#include "runtime/host/timer.h"

namespace tilewright::codegen {
namespace {

// CPU time of this thread, by phases of the compiler.
class PhaseTimer {
 public:
  explicit PhaseTimer(std::vector<PhaseTime>* phases) : phases_(phases) {}
  double lap_ms() {
    const int64_t now = runtime::thread_cpu_ns();
    return static_cast<double>(now - std::exchange(last_, now)) * 1e-6;
  }
  void add(const char* phase, double milliseconds) {
    if (phases_ != nullptr) phases_->push_back({phase, milliseconds});
  }

 private:
  std::vector<PhaseTime>* phases_;
  int64_t last_ = runtime::thread_cpu_ns();
};

Result<llvm::SmallVector<char, 0>> generate(llvm::Module& module, llvm::TargetMachine& machine,
                                            llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true)) {
    return fail(ErrorKind::Build, "LLVM cannot emit object files for this target");
  }
  passes.run(module);
  return bytes;
}

Status check_module(const llvm::Module& module) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (!llvm::verifyModule(module, &stream)) return {};
  return fail(ErrorKind::Build, "LLVM's verifier: " + problem);
}

constexpr bool kVerify =
#ifdef TILEWRIGHT_VERIFY
    true;
#else
    false;
#endif

}  // namespace

Result<runtime::Artifact> compile_llvm(const ir::Function& function, const Target& target,
                                       const LlvmOptions& options) {
  llvm::TargetMachine* const machine = TRY(target_machine(target));

  if (options.on_phase) options.on_phase("emit");
  PhaseTimer watch(options.phases);
  llvm::LLVMContext context;
  context.setDiscardValueNames(options.llvm_ir == nullptr);
  llvm::Module module("kernel", context);
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());

  const WorkspacePlan plan = plan_workspace(function);
  runtime::Artifact object{.bytes = {},
                           .entry = kernel_symbol(function.name),
                           .shared_workspace = plan.shared,
                           .thread_workspace = plan.per_thread};
  const double promote_ms = TRY(emit_kernel(function, target, plan, object.entry, module));
  watch.add("emit", watch.lap_ms() - promote_ms);
  watch.add("promote", promote_ms);
  if (kVerify) {
    TRY(check_module(module));
  }
  if (options.llvm_ir != nullptr) {
    llvm::raw_string_ostream stream(*options.llvm_ir);
    module.print(stream, nullptr);
  }
  if (options.assembly != nullptr) {  // code generation changes the module: run it on a copy
    const auto copy = llvm::CloneModule(module);
    const auto text = TRY(generate(*copy, *machine, llvm::CodeGenFileType::AssemblyFile));
    options.assembly->assign(text.begin(), text.end());
  }
  if (options.on_phase) options.on_phase("codegen");
  watch.lap_ms();
  const auto bytes = TRY(generate(module, *machine, llvm::CodeGenFileType::ObjectFile));
  object.bytes.assign(bytes.begin(), bytes.end());
  watch.add("codegen", watch.lap_ms());
  return object;
}

}  // namespace tilewright::codegen
