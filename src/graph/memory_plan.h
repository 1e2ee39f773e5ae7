// MemoryPlan: where each value of a partitioned Graph lies while the model runs. Inputs and outputs
// are the caller's; constants are of the library; all else lies in one arena, where values that
// are not alive at the same time share bytes, and a kernel may write over an operand that it reads
// for the last time when it reads each element just before it writes it (in place).
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/partition.h"

namespace tilewright::graph {

enum class Home : uint8_t { Input, Output, Constant, Arena };

struct Place {
  Home home = Home::Arena;
  int64_t index = 0;   // of the input, output or constant
  int64_t offset = 0;  // bytes: in the arena, or within what `index` names
};

struct MemoryPlan {
  std::vector<Place> places;       // by ValueId; of values that no group mentions: unused
  std::vector<ValueId> constants;  // in the order of their index
  int64_t arena_bytes = 0;         // peak; offsets are multiples of 64
  int64_t sum_bytes = 0;           // if every value had bytes of its own
};

Result<MemoryPlan> plan_memory(const Graph& graph, const Partition& partition);

}  // namespace tilewright::graph
