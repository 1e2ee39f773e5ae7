// Runner: a Program in this process, by the same run time that a compiled library has.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "deploy/program.h"
#include "graph/constant.h"
#include "runtime/abi/model_abi.h"

namespace tilewright::deploy {

// Runs it in this process; inputs in order, row-major. To be used by one thread at a time; several
// may be loaded of one Program.
class Runner {
 public:
  static Result<Runner> load(const Program& program);  // which outlives it
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;
  ~Runner();
  // An error where number or types of the inputs are not the Program's.
  Result<std::vector<graph::Constant>> run(std::span<const graph::Constant> inputs);

  // The same as a compiled library has it: for who times it.
  const TilewrightModelApi& api() const;
  TilewrightModel* model() const;

 private:
  struct Impl;
  explicit Runner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::deploy
