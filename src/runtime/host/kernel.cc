#include "runtime/host/kernel.h"

#include <fmt/format.h>

#include "runtime/host/buffer.h"
#include "runtime/host/loaders.h"

namespace tilewright::runtime {

Result<Kernel> Kernel::load(const Artifact& artifact, std::span<const Loader> loaders) {
  if (artifact.abi_version != TILEWRIGHT_ABI_VERSION) {
    return fail(ErrorKind::Unsupported,
                fmt::format("object file: made for version {} of the kernel ABI, this is version "
                            "{}; compile it again",
                            artifact.abi_version, TILEWRIGHT_ABI_VERSION));
  }
  const Loader& loader = *TRY(loader_of(artifact.kind, loaders));
  Kernel kernel;
  kernel.code_ = TRY(loader.load(artifact));
  kernel.entry_ = kernel.code_->entry();
  kernel.shared_ = artifact.shared_workspace;
  kernel.per_thread_ = artifact.thread_workspace;
  kernel.denormals_ = artifact.denormals;
  return kernel;
}

int32_t call_once(const Kernel& kernel, std::span<void* const> arguments, int threads) {
  const AlignedBuffer workspace(kernel.workspace_bytes(threads));
  return kernel({.arguments = arguments.data(),
                 .workspace = workspace.data(),
                 .pool = nullptr,
                 .threads = threads,
                 .reserved = 0});
}

}  // namespace tilewright::runtime
