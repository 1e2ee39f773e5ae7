// Evicts memory from all caches of all cores, line by line: the state that a kernel finds after
// much other work. Requires only SSE2; uses the weakly ordered flush instruction if there is one.
#pragma once

#include <cstddef>
#include <span>

namespace tilewright::measure {

void evict(std::span<const std::byte> memory);

}  // namespace tilewright::measure
