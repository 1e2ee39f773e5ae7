// Puts memory out of all caches, line by line, on every core: what a kernel finds that was called
// after much else. Needs nothing but SSE2; uses the instruction that needs not wait where there is
// one.
#pragma once

#include <cstddef>
#include <span>

namespace tilewright::measure {

void evict(std::span<const std::byte> memory);

}  // namespace tilewright::measure
