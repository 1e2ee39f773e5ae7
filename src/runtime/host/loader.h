// The half of a back end that needs no compiler: how its artifacts are loaded, called and timed.
// The run worker links this table (loaders.cc) and no compiler. A new kind of artifact is one row.
//
//   const Loader& loader = *TRY(loader_of(artifact));
//   const std::unique_ptr<LoadedCode> code = TRY(loader.load(artifact));
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "runtime/abi/kernel_abi.h"
#include "runtime/host/artifact.h"
#include "target/target.h"

namespace tilewright::runtime {

using KernelEntry = int32_t (*)(const TilewrightCall*);

// A loaded kernel. It owns the memory of its code; arguments are memory of this process. Calls may
// come from several threads at once.
class LoadedCode {
 public:
  LoadedCode() = default;
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;
  virtual ~LoadedCode() = default;

  // The function itself, valid as long as this; null for code that this process cannot call.
  virtual KernelEntry entry() const { return nullptr; }
  virtual int32_t call(const TilewrightCall& call) const = 0;
  // Nanoseconds of `calls` calls one after another, by the clock that suits the device; any status
  // other than 0 is or-ed into `status`.
  virtual double time(const TilewrightCall& call, int64_t calls, int32_t* status) const;
};

struct Loader {
  std::string_view kind;  // of the artifacts it loads
  bool (*serves)(const Target& target) = nullptr;
  Status (*runs_here)(const Target& target) = nullptr;  // an error that names what is missing
  // Untrusted bytes: an error or loaded code, never a fault.
  Result<std::unique_ptr<LoadedCode>> (*load)(const Artifact& artifact) = nullptr;
};

std::span<const Loader> all_loaders();

// Whether this machine executes code for the target: asks the first loader that serves it.
Status check_loadable(const Target& target, std::span<const Loader> loaders = all_loaders());

const Loader* find_loader(std::string_view kind,
                          std::span<const Loader> loaders = all_loaders());  // or null

// An error where no loader takes that kind.
Result<const Loader*> loader_of(const Artifact& artifact,
                                std::span<const Loader> loaders = all_loaders());

}  // namespace tilewright::runtime
