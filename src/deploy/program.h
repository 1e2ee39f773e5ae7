// Program: a compiled model, ready to run or export: kernels as artifacts, packed constants, and
// the steps in order. Created from a partitioned Graph and one schedule per kernel
// (compile_model.h); exported as .so, .o or .c (export.h); run in this process by a Runner
// (runner.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/c/emit_c.h"
#include "deploy/kernel_facts.h"
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
  // Its entry is unique within the Program. Default-constructed if only C source was requested.
  runtime::Artifact artifact;
  bool denormals = false;  // kept in its calls; otherwise they count as zero
  std::string title;
  int64_t tuned_ns = 0;  // of a call, by the record of its schedule; 0: it has none
  KernelFacts facts;
};

// A location: a buffer and a byte offset in it. The constants are one buffer, and so is the arena;
// `index` selects an input or output.
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
  runtime::AlignedBuffer constants;  // packed for the kernels, each aligned to 64
  int64_t arena_bytes = 0;
  codegen::CSource c;  // of all kernels in order, if requested
};

}  // namespace tilewright::deploy
