// Runner: a Program in this process, by the same run time that a compiled library has.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "deploy/program.h"
#include "graph/constant.h"
#include "runtime/abi/model_abi.h"
#include "runtime/host/loader.h"

namespace tilewright::deploy {

// Runs it in this process; inputs in order, row-major. To be used by one thread at a time; several
// may be loaded of one Program.
class Runner {
 public:
  // The program outlives it. A kernel for a device runs through its loader.
  static Result<Runner> load(const Program& program,
                             std::span<const runtime::Loader> loaders = runtime::all_loaders());
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;
  ~Runner();
  // An error where number or types of the inputs are not the Program's.
  Result<std::vector<graph::Constant>> run(std::span<const graph::Constant> inputs);

  // The same as a compiled library has it: for who times it. Null where a kernel is not a function
  // of this process, such as one for a device.
  const TilewrightModelApi* api() const;
  TilewrightModel* model() const;

 private:
  struct Impl;
  explicit Runner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::deploy
