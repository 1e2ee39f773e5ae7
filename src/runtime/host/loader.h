// The half of a back end that needs no compiler: how its artifacts are loaded, called and timed.
// runtime/host/loaders.h is the table.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "runtime/abi/kernel_abi.h"
#include "runtime/host/artifact.h"
#include "target/target.h"

namespace tilewright::runtime {

using KernelEntry = int32_t (*)(const TilewrightCall*);

// A loaded kernel. It owns the memory of its code; arguments are memory of this process. May be
// called by several threads at once.
class LoadedCode {
 public:
  LoadedCode() = default;
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;
  virtual ~LoadedCode() = default;

  // The function, valid as long as this object; null for code that this process cannot call.
  virtual KernelEntry entry() const { return nullptr; }
  virtual int32_t call(const TilewrightCall& call) const = 0;
  // Nanoseconds for `calls` consecutive calls, by the clock that suits the device. A nonzero status
  // is or-ed into `status`.
  virtual double time(const TilewrightCall& call, int64_t calls, int32_t* status) const;
};

struct Loader {
  std::string_view kind;  // kind of its artifacts
  bool (*serves)(const Target& target) = nullptr;
  Status (*runs_here)(const Target& target) = nullptr;  // an error that names what is missing
  // An error or loaded code, never a fault, however the bytes were damaged (runtime/host/seal.h).
  // Loading and calling undamaged bytes executes them, so they must come from a trusted back end.
  Result<std::unique_ptr<LoadedCode>> (*load)(const Artifact& artifact) = nullptr;
};

}  // namespace tilewright::runtime
