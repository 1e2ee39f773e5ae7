// apply: Trace -> LoopTree. The hot path of every search: it touches no strings and, when the
// output tree is reused, allocates next to nothing.
//
//   const LoopTree initial = initial_tree(workload);      once a workload
//   LoopTree tree;
//   if (const Illegal illegal = apply(initial, trace, &tree)) ... explain(initial, trace, illegal)
//   ... change factors of splits in `trace` ...
//   if (const Illegal illegal = retile(trace, &tree)) ...  structure kept, numbers anew
#pragma once

#include "base/result.h"
#include "schedule/illegal.h"
#include "schedule/loop_tree.h"
#include "schedule/trace.h"

namespace tilewright::schedule {

// Every operator at root, its axes as loops; the tree of the empty trace before its numbers. Fails
// for a Dag whose extents are not constants or whose ranks pass the limits of a LoopTree.
// Operands that are neither row-major nor free are Unsupported.
Result<LoopTree> initial_tree(const Workload& workload,
                              IntrinsicTable intrinsics = all_intrinsics());

[[nodiscard]] Illegal apply(const LoopTree& initial, const Trace& trace, LoopTree* tree);

// The first part of apply: all but numbers, which `retile` then makes. What is refused here is
// refused whatever the split factors are, unless the code is BadFactor.
[[nodiscard]] Illegal apply_structure(const LoopTree& initial, const Trace& trace, LoopTree* tree);

// For a tree that `apply` made, or refused for its numbers, or `apply_structure` made, of a trace
// which differs from this one in split factors only.
[[nodiscard]] Illegal retile(const Trace& trace, LoopTree* tree);

// apply with the explanation as its error.
Result<LoopTree> apply_or_explain(const LoopTree& initial, const Trace& trace);

}  // namespace tilewright::schedule
