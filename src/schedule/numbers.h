// The numbers of a LoopTree: extents of variables, index forms of accesses, regions, and the part
// that attached producers must compute. Readers are processed before producers, because the region
// of a reader determines the extent of its producer.
#pragma once

#include "schedule/illegal.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"

namespace tilewright::schedule {

// `trace` provides the factors. While lowering a tail, `rest` and `resolved` of split variables
// restrict the values of their inner parts.
[[nodiscard]] Illegal compute_numbers(const Trace& trace, LoopTree* tree);

// The value of a variable as an affine form over terminal variables; loops of one iteration are
// dropped. False if it has too many terms.
[[nodiscard]] bool form_of(const LoopTree& tree, VarIndex var, arith::Affine* form,
                           int64_t times = 1);

}  // namespace tilewright::schedule
