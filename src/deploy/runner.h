// Runner: runs a Program in this process, with the same runtime as a compiled library. Kernels that
// are not functions of this process, such as those for a device, run through their loader.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "deploy/program.h"
#include "graph/constant.h"
#include "runtime/abi/model_abi.h"
#include "runtime/host/loaders.h"

namespace tilewright::deploy {

// Inputs are in order and row-major. Used by one thread at a time; several Runners may be loaded
// from one Program.
class Runner {
 public:
  // `program` outlives it.
  static Result<Runner> load(const Program& program,
                             std::span<const runtime::Loader> loaders = runtime::all_loaders());
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;
  ~Runner();
  // An error if the number or the types of the inputs do not match the Program.
  Result<std::vector<graph::Constant>> run(std::span<const graph::Constant> inputs);

  // The interface of a compiled library, valid as long as the Runner. If a kernel is not a function
  // of this process, run_dlpack is an error, and tensors are used directly: inputs and outputs do
  // not overlap, and their alignment is up to the loader.
  const TilewrightModelApi& api() const;
  TilewrightModel* model() const;  // its instance

 private:
  struct Impl;
  explicit Runner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::deploy
