// kernel_facts: the work of a kernel: FLOP, the bytes of its operands, and the keys under which its
// measurements are stored. Exported with a model, so that a library can be compared with the limits
// of a machine without the model file.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "schedule/loop_tree.h"
#include "task/workload.h"

namespace tilewright::deploy {

struct KernelFacts {
  double flop = 0;             // of a call
  int64_t constant_bytes = 0;  // that a call reads, of constants
  int64_t read_bytes = 0;      // that a call reads, of inputs
  int64_t written_bytes = 0;
  Hash128 task;
  Hash128 program;
  bool elementwise = false;  // no operator reduces

  bool operator==(const KernelFacts&) const = default;
};

// `tree`: the program of the schedule. An operand that is read in part counts with at most that
// part: one element for each combination of the axes in its index.
//
//   table[30522, 768] read as table[id[i], j], i < 128, j < 768   ->   128 x 768 elements
KernelFacts kernel_facts(const Task& task, const schedule::LoopTree& tree);

}  // namespace tilewright::deploy
