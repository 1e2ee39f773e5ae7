// When the buffers of a function are alive, in the order of its statements.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/stmt.h"

namespace tilewright::codegen {

struct TimeRange {  // closed; times are numbers of statements
  int64_t first = 0;
  int64_t last = 0;
};

// One range for each Allocate whose buffer is accessed, from the first access to the last; as
// workspace.h says, loops count as a whole.
struct Lifetime {
  std::vector<TimeRange> ranges;
};

std::vector<Lifetime> lifetimes_of(const ir::Function& function);  // by BufferId

bool overlap(const Lifetime& a, const Lifetime& b);

}  // namespace tilewright::codegen
