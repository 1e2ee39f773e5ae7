// The canonical hash of a LoopTree: 128 bits of everything that determines the program. Loops are
// numbered by (stage in order, position), so the hash does not depend on names or on the steps that
// produced the tree. Records store it.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "schedule/loop_tree.h"
#include "target/target.h"

namespace tilewright::schedule {

inline constexpr uint64_t kProgramHashVersion = 2;  // raised whenever hashes change

// The program on a target: memories that the target does not distinguish
// (Target::distinct_scope) give one hash.
Hash128 program_hash(const LoopTree& tree, const Target& target);

// On any target: all memories are distinguished.
Hash128 program_hash(const LoopTree& tree);

}  // namespace tilewright::schedule
