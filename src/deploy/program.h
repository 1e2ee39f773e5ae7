// Program: a whole model ready to run or to be written out: kernels as objects, packed constants,
// and the steps in their order. Made from a partitioned Graph and a schedule a kernel
// (compile_model.h); written as .so, .o or .c (export.h); run in process for tests and folding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/constant.h"
#include "graph/memory_plan.h"
#include "runtime/host/kernel.h"
#include "target/target.h"

namespace tilewright::deploy {

struct ProgramTensor {
  std::string name;
  graph::TensorType type;
};

struct ProgramKernel {
  runtime::KernelObject object;  // its symbol is unique in the Program
  std::string c_source;          // where C was asked for
  std::string title;
};

// A place: which buffer, and the offset in it.
struct Argument {
  graph::Home home = graph::Home::Arena;
  int64_t index = 0;
  int64_t offset = 0;
};

struct Step {
  size_t kernel = 0;
  std::vector<Argument> arguments;  // in the order of the kernel's operands
  std::string title;
};

struct Program {
  std::string name;
  Target target;
  std::vector<ProgramTensor> inputs, outputs;
  std::vector<ProgramKernel> kernels;
  std::vector<Step> steps;
  std::vector<std::byte> constants;       // packed, each at a multiple of 64
  std::vector<int64_t> constant_offsets;  // by index of Home::Constant
  int64_t arena_bytes = 0;
  int64_t workspace_bytes = 0;  // the largest of the kernels', for target.threads
};

// Runs it in this process; inputs in order, row-major.
class Runner {
 public:
  static Result<Runner> load(const Program& program);  // which outlives it
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;
  ~Runner();
  Result<std::vector<graph::Constant>> run(std::span<const graph::Constant> inputs);

 private:
  struct Impl;
  explicit Runner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::deploy
