// Kernel: a loaded artifact, ready to be called. Needs no compiler. Movable; may be called by
// several threads at once. A call sets the float control that the artifact requires and restores
// that of the caller.
//
//   const Kernel kernel = TRY(Kernel::load(artifact));
//   const int32_t status = kernel({.arguments = arguments, ..., .threads = 2});
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "runtime/host/artifact.h"
#include "runtime/host/float_scope.h"
#include "runtime/host/loader.h"
#include "runtime/host/loaders.h"

namespace tilewright::runtime {

class Kernel {
 public:
  // An error for an artifact of another ABI version, or of a kind without a loader.
  static Result<Kernel> load(const Artifact& artifact,
                             std::span<const Loader> loaders = all_loaders());

  int32_t operator()(const TilewrightCall& call) const {
    const FloatScope scope(denormals_);
    return entry_ != nullptr ? entry_(&call) : code_->call(call);
  }
  // See LoadedCode::time.
  double time(const TilewrightCall& call, int64_t calls, int32_t* status) const {
    const FloatScope scope(denormals_);
    return code_->time(call, calls, status);
  }
  // Valid as long as the Kernel; null for code that this process cannot call directly. Its caller
  // sets the float control.
  KernelEntry entry() const { return entry_; }
  int64_t workspace_bytes(int threads) const { return shared_ + threads * per_thread_; }

 private:
  Kernel() = default;
  std::unique_ptr<LoadedCode> code_;
  KernelEntry entry_ = nullptr;
  int64_t shared_ = 0;
  int64_t per_thread_ = 0;
  bool denormals_ = false;
};

// One call with a temporary workspace, on the pool of the process. Returns the status of the
// kernel.
int32_t call_once(const Kernel& kernel, std::span<void* const> arguments, int threads = 1);

}  // namespace tilewright::runtime
