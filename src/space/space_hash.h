// The hash of a space: the steps, holes and choices of its sketches, in order, without their names.
// It does not depend on whether rules, a template or the caller made the sketches. A pure function.
#pragma once

#include <span>

#include "base/hash.h"
#include "schedule/sketch.h"

namespace tilewright::space {

Hash128 hash_of(std::span<const schedule::Sketch> sketches);

}  // namespace tilewright::space
