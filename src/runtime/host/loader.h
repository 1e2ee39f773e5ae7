// Loader: the part of a back end that needs no compiler: it loads, calls and times artifacts. The
// run worker links this table (loaders.cc) and no compiler. A new kind of artifact is one row.
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
  // Untrusted bytes: returns an error or loaded code, and never faults.
  Result<std::unique_ptr<LoadedCode>> (*load)(const Artifact& artifact) = nullptr;
};

std::span<const Loader> all_loaders();

// Whether this machine can execute code for the target, according to the first loader that serves
// it.
Status check_loadable(const Target& target, std::span<const Loader> loaders = all_loaders());

const Loader* find_loader(std::string_view kind,
                          std::span<const Loader> loaders = all_loaders());  // may be null

// An error if no loader accepts that kind.
Result<const Loader*> loader_of(const Artifact& artifact,
                                std::span<const Loader> loaders = all_loaders());

}  // namespace tilewright::runtime
