// Lifetimes of the buffers of a function, in statement order.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/stmt.h"

namespace tilewright::codegen {

struct TimeRange {  // closed; times are statement numbers
  int64_t first = 0;
  int64_t last = 0;
};

// One range per Allocate whose buffer is accessed, from the first access to the last. Loops count
// as a whole, as described in workspace.h.
struct Lifetime {
  std::vector<TimeRange> ranges;
};

std::vector<Lifetime> lifetimes_of(const ir::Function& function);  // per BufferId

bool overlap(const Lifetime& a, const Lifetime& b);

}  // namespace tilewright::codegen
