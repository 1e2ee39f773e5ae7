// Evicts memory from all caches of this machine, line by line, on every core: the state of the
// caches after other programs have run. Uses the unordered flush where the processor has it. Does
// nothing on processors other than x86-64.
#pragma once

#include <cstddef>
#include <span>

namespace tilewright {

void evict_cache_lines(std::span<const std::byte> memory);

}  // namespace tilewright
