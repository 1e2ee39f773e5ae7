#include "codegen/c/back_end.h"

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

}  // namespace

const BackEnd& c_back_end() {
  static const BackEnd row = {
      .name = "c",
      .purpose = "C source for GCC and Clang",
      .targets = "x86-64",
      .serves = is_x86,
      .check = [](const Target&) { return Status(); },
      .passes = lower::cpu_passes(),
      .compile = compile_all,
      .loader = runtime::find_loader(runtime::kSharedLibraryArtifact),
      .probe = [] { return works_on(c_back_end(), host_target(1)); },
      .remedy = "apt-get install gcc",
  };
  return row;
}

}  // namespace tilewright::codegen
