// The numbers of a LoopTree: extents of variables, index forms of accesses, what producers that
// are attached must compute, and regions. Readers come before producers, since what a reader
// touches decides how much its producer computes.
#pragma once

#include "schedule/illegal.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"

namespace tilewright::schedule {

// `trace` gives the factors. While lowering a tail, `rest` and `resolved` of split variables
// narrow what their inner parts take.
[[nodiscard]] Illegal compute_numbers(const Trace& trace, LoopTree* tree);

// The value of a variable as an affine form over terminal variables; one-trip loops drop out.
// False when it has too many terms.
[[nodiscard]] bool form_of(const LoopTree& tree, VarIndex var, arith::Affine* form,
                           int64_t times = 1);

}  // namespace tilewright::schedule
