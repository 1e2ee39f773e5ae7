// MemoryPlan: where each value of a partitioned Graph is stored while the model runs. Inputs and
// outputs are the caller's memory, constants belong to the library, and all other values share one
// arena (arena_plan.h). A value is alive from the group that writes it to the last one that reads
// it, both included: the operands of a kernel do not overlap (kernel_abi.h), so no kernel
// overwrites an operand.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/partition.h"

namespace tilewright::graph {

enum class Home : uint8_t { Input, Output, Constant, Arena };

struct ArenaSlot {
  Home home = Home::Arena;
  int64_t index = 0;   // of the input, output or constant
  int64_t offset = 0;  // in bytes: in the arena, or in the input, output or constant

  bool operator==(const ArenaSlot&) const = default;
};

struct MemoryPlan {
  std::vector<ArenaSlot> places;   // by ValueId; unused for values of no group
  std::vector<ValueId> constants;  // in the order of their index
  int64_t arena_bytes = 0;         // peak; offsets are multiples of 64
  int64_t live_bytes = 0;          // the most that is alive at once: a lower bound of any plan
  int64_t sum_bytes = 0;           // the arena without sharing
};

struct MemoryOptions {
  bool reuse = true;  // false: values share no bytes
};
Result<MemoryPlan> plan_memory(const Graph& graph, const Partition& partition,
                               const MemoryOptions& options = {});

}  // namespace tilewright::graph
