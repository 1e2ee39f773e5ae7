// MemoryPlan: where each value of a partitioned Graph lies while the model runs. Inputs and outputs
// are the caller's; constants are of the library; all else lies in one arena, where values that are
// not alive at the same time share bytes. A value lives from the group that writes it to the last
// that reads it, both included: the operands of a kernel do not overlap (kernel_abi.h), so nothing
// is written in place of an operand. A pass over memory that would save is fused instead.
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
  int64_t offset = 0;  // bytes: in the arena, or within what `index` names

  bool operator==(const ArenaSlot&) const = default;
};

struct MemoryPlan {
  std::vector<ArenaSlot> places;   // by ValueId; of values that no group mentions: unused
  std::vector<ValueId> constants;  // in the order of their index
  int64_t arena_bytes = 0;         // peak; offsets are multiples of 64
  int64_t live_bytes = 0;          // the most that is alive at once: no plan needs less
  int64_t sum_bytes = 0;           // if every value had bytes of its own
};

struct MemoryOptions {
  bool reuse = true;  // false: every value has bytes of its own
};
Result<MemoryPlan> plan_memory(const Graph& graph, const Partition& partition,
                               const MemoryOptions& options = {});

}  // namespace tilewright::graph
