#include "codegen/llvm/target_machine.h"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetOptions.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "codegen/llvm/back_end.h"

namespace tilewright::codegen {
namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

// These can only be set through LLVM's command line, which is global.
void set_option(llvm::StringRef option, llvm::StringRef value) {
  auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find(option);
  if (found != options.end()) found->second->addOccurrence(1, option, value);
}

void initialize_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    // The emitter has already reduced the strength of address arithmetic; the LLVM pass for it
    // takes a seventh of the time of a register-tile kernel.
    set_option("disable-lsr", "true");
    // Blocks with many accesses that may alias (a tile larger than the registers, unrolled) make
    // the scheduler's dependence graph grow with the square of their number: over a second for
    // one kernel. From this many on it keeps fewer edges; hot loops stay below.
    set_option("dag-maps-huge-region", "200");
    set_option("dag-maps-reduction-size", "100");
  });
}

}  // namespace

// LLVM uses the same names, except for the underscore.
std::string llvm_features(const Target& target) {
  std::string text;
  for (const Feature feature : target.cpu()->features.list()) {
    text += text.empty() ? "+" : ",+";
    text += feature_text(feature);
  }
  std::ranges::replace(text, '_', '-');
  return text;
}

Status check_llvm_target(const Target& target) {
  if (!llvm_back_end().serves(target)) return no_code_for(target, {&llvm_back_end(), 1});
  // Without these, fma and conversions would become library calls.
  for (Feature needed : {Feature::Avx2, Feature::Fma, Feature::F16c}) {
    if (!target.has(needed)) {
      return fail(ErrorKind::Unsupported,
                  "the LLVM back end needs avx2, fma and f16c; the target `" +
                      print_target(target) + "` lacks " + std::string(feature_text(needed)));
    }
  }
  return {};
}

Result<llvm::TargetMachine*> target_machine(const Target& target) {
  TRY(check_llvm_target(target));
  initialize_once();
  thread_local std::map<std::string, std::unique_ptr<llvm::TargetMachine>> machines;
  std::unique_ptr<llvm::TargetMachine>& machine = machines[llvm_features(target)];
  if (machine != nullptr) return machine.get();

  std::string problem;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(kTriple, problem);
  if (found == nullptr) return fail(ErrorKind::Build, "LLVM: " + problem);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // every fma is explicit
  machine.reset(found->createTargetMachine(kTriple, "x86-64", llvm_features(target), options,
                                           llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                           llvm::CodeGenOptLevel::Default));
  if (machine == nullptr) return fail(ErrorKind::Build, "LLVM has no machine for this target");
  return machine.get();
}

}  // namespace tilewright::codegen
