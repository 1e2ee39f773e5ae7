#include "codegen/back_end.h"

#include <fmt/format.h>

#include <exception>

#include "codegen/probe_function.h"
#include "runtime/host/kernel.h"

namespace tilewright::codegen {

Status probe(const BackEnd& back_end) {
  if (back_end.probe == nullptr) return fail(ErrorKind::Unsupported, "not in this build");
  try {
    return back_end.probe();
  } catch (const std::exception& error) {  // reported, so that the other back ends are probed too
    return fail(ErrorKind::Build, error.what());
  }
}

std::unexpected<Error> no_code_for(const Target& target) {
  return fail(
      ErrorKind::Unsupported,
      fmt::format("no code is made for {} yet; use an x86-64 target", print_target(target)));
}

Result<runtime::Artifact> compile(const BackEnd& back_end, const ir::Function& function,
                                  const Target& target, const CompileOptions& options) {
  std::vector<runtime::Artifact> made = TRY(back_end.compile({&function, 1}, target, options));
  return std::move(made.front());
}

Status works_on(const BackEnd& back_end, const Target& target) {
  const runtime::Artifact artifact = TRY(compile(back_end, probe_function(), target));
  const runtime::Kernel kernel = TRY(runtime::Kernel::load(artifact, {back_end.loader, 1}));
  float x = 1;
  void* const arguments[] = {&x};
  if (runtime::call_once(kernel, arguments) != TILEWRIGHT_STATUS_OK || x != 2) {
    return fail(ErrorKind::Build, "a compiled kernel ran but gave a wrong result");
  }
  return {};
}

}  // namespace tilewright::codegen
