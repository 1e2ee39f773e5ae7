// Program: a whole model ready to run or to be written out: kernels as artifacts, packed constants,
// and the steps in their order. Made from a partitioned Graph and a schedule a kernel
// (compile_model.h); written as .so, .o or .c (export.h); run in process by a Runner (runner.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/c/emit_c.h"
#include "graph/constant.h"
#include "graph/memory_plan.h"
#include "runtime/host/artifact.h"
#include "runtime/host/buffer.h"
#include "target/target.h"

namespace tilewright::deploy {

struct ProgramTensor {
  std::string name;
  graph::TensorType type;
};

struct ProgramKernel {
  runtime::Artifact artifact;  // its entry is unique in the Program
  std::string title;
};

// A place: which buffer, and the offset in it, in bytes. The constants are one buffer, and so is
// the arena: `index` is for inputs and outputs.
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
  std::string name;  // a C identifier
  Target target;
  std::vector<ProgramTensor> inputs, outputs;
  std::vector<ProgramKernel> kernels;
  std::vector<Step> steps;
  runtime::AlignedBuffer constants;  // as the kernels want them, each at a multiple of 64
  int64_t arena_bytes = 0;
  codegen::CSource c;  // of all kernels in order, where C was asked for
};

}  // namespace tilewright::deploy
