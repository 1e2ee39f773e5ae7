// Evicts memory from all caches of this machine, line by line, on every core: the state that a
// kernel finds after much other work. Uses the unordered flush where the processor has it. Does
// nothing on processors other than x86-64.
#pragma once

#include <cstddef>
#include <span>

namespace tilewright {

void evict_cache_lines(std::span<const std::byte> memory);

}  // namespace tilewright
