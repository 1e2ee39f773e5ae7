// apply: Trace -> LoopTree. The hot path of every search: it handles no strings and, if the output
// tree is reused, allocates next to nothing.
//
//   const LoopTree initial = initial_tree(workload);      once per workload
//   LoopTree tree;
//   if (const Illegal illegal = apply(initial, trace, &tree)) ... explain(initial, trace, illegal)
//   ... change factors of splits in `trace` ...
//   if (const Illegal illegal = retile(trace, &tree)) ...  structure kept, numbers recomputed
#pragma once

#include "base/result.h"
#include "schedule/illegal.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"

namespace tilewright::schedule {

// The tree of the empty trace, without numbers: every operator at root, with its axes as loops.
// Fails for a Dag whose extents are not constants or whose ranks exceed the limits of a LoopTree.
// Operands that are neither row-major nor free are Unsupported.
Result<LoopTree> initial_tree(const Workload& workload,
                              IntrinsicTable intrinsics = all_intrinsics());

[[nodiscard]] Illegal apply(const LoopTree& initial, const Trace& trace, LoopTree* tree);

// The first phase of apply: structure without numbers, which `retile` then computes. A trace that
// is rejected here is illegal for all split factors, unless the code is BadFactor.
[[nodiscard]] Illegal apply_structure(const LoopTree& initial, const Trace& trace, LoopTree* tree);

// Recomputes the numbers of a tree. `tree` was produced by `apply` (also if it rejected the
// numbers) or `apply_structure`, from a trace that differs from this one only in split factors.
[[nodiscard]] Illegal retile(const Trace& trace, LoopTree* tree);

// apply with the explanation as its error.
Result<LoopTree> apply_or_explain(const LoopTree& initial, const Trace& trace);

}  // namespace tilewright::schedule
