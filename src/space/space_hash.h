// The hash of a space: of what its sketches can make, whatever made them. Equal for equal steps,
// holes and choices in the same order; names do not count. A pure function.
#pragma once

#include <span>

#include "base/hash.h"
#include "schedule/sketch.h"

namespace tilewright::space {

Hash128 hash_of(std::span<const schedule::Sketch> sketches);

}  // namespace tilewright::space
