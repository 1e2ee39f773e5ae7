// Texts of errors about what only some devices have: axes of bound loops, and memories. Legality
// and the back ends for CPUs share them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/thread_axis.h"

namespace tilewright::lower {

// `loop i of C is bound to block_x, which only a GPU has`
inline std::string axis_fault(std::string_view loop, ThreadAxis axis) {
  return fmt::format("{} is bound to {}, which only a GPU has", loop, word_of(axis));
}

// `A.read is in shared memory, which the target x86-64;threads=1 does not have`
inline std::string memory_fault(std::string_view buffer, std::string_view memory,
                                std::string_view device) {
  return fmt::format("{} is in {} memory, which {} does not have", buffer, memory, device);
}

}  // namespace tilewright::lower
