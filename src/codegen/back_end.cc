#include "codegen/back_end.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>

#include "base/check.h"
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

std::unexpected<Error> no_code_for(const Target& target, std::span<const BackEnd> rows) {
  std::vector<std::string_view> served;
  for (const BackEnd& row : rows) {
    if (!row.makes_artifacts() || std::ranges::count(served, row.targets) > 0) continue;
    served.push_back(row.targets);
  }
  return fail(ErrorKind::Unsupported, fmt::format("no code is made for {} yet; targets are {}",
                                                  print_target(target), fmt::join(served, ", ")));
}

Result<std::vector<runtime::Artifact>> compile(const BackEnd& back_end,
                                               std::span<const ir::Function> functions,
                                               const Target& target,
                                               const CompileOptions& options) {
  std::vector<runtime::Artifact> artifacts = TRY(back_end.compile(functions, target, options));
  CHECK(artifacts.size() == functions.size(), "{} artifacts of {} functions by {}",
        artifacts.size(), functions.size(), back_end.name);
  for (size_t k = 0; k < artifacts.size(); ++k) artifacts[k].denormals = functions[k].denormals;
  return artifacts;
}

Result<runtime::Artifact> compile(const BackEnd& back_end, const ir::Function& function,
                                  const Target& target, const CompileOptions& options) {
  std::vector<runtime::Artifact> artifacts =
      TRY(compile(back_end, std::span(&function, 1), target, options));
  return std::move(artifacts.front());
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
