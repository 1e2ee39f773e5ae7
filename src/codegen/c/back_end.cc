#include "codegen/c/back_end.h"

#include <array>

#include "codegen/c/c_library.h"
#include "lower/pipeline.h"
#include "runtime/host/loaders.h"

namespace tilewright::codegen {
namespace {

Result<std::vector<runtime::Artifact>> compile_all(std::span<const ir::Function> functions,
                                                   const Target& target,
                                                   const CompileOptions& options) {
  if (options.on_phase) options.on_phase("compile");
  return compile_c(TRY(emit_c(functions, target)), target);
}

Result<std::string> text_of(const ir::Function& function, const Target& target,
                            std::string CSource::* form) {
  return TRY(emit_c({&function, 1}, target)).*form;
}

constexpr std::array kTexts = {
    TextForm{"header", "the C header",
             [](const ir::Function& function, const Target& target, const CompileOptions&) {
               return text_of(function, target, &CSource::header);
             }},
    TextForm{kCSourceText, "the C source",
             [](const ir::Function& function, const Target& target, const CompileOptions&) {
               return text_of(function, target, &CSource::source);
             }},
};

}  // namespace

const BackEnd& c_back_end() {
  static const BackEnd row = {
      .name = "c",
      .purpose = "C source for GCC and Clang",
      .targets = "x86-64",
      .serves = [](const Target& target) { return target.is_cpu(CpuArch::X86_64); },
      .check = [](const Target&) { return Status(); },
      .passes = lower::cpu_passes(),
      .compile = compile_all,
      .loader = runtime::find_loader(runtime::kSharedLibraryArtifact),
      .texts = kTexts,
      .probe = [] { return works_on(c_back_end(), host_target(1)); },
      .remedy = "apt-get install gcc",
  };
  return row;
}

}  // namespace tilewright::codegen
