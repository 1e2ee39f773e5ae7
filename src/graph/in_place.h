// Concats without a kernel: the kernels that make the parts write them where they lie in the
// result, and what reads a part reads it there.
//
//   concat(a, b) of [1, 8, 8, 32] and [1, 8, 8, 64] along the last axis, made by kernels:
//     a and b lie in the result from element 0 and element 32 on, within [1, 8, 8, 96]
//   concat(a, b, c) so, and concat(a, b):   the latter lies in the former too
//
// A part stays where it is, so it has one such place; it is no input, constant or output of the
// model, nor seen through a View. Larger results go first.
#pragma once

#include <span>
#include <vector>

#include "graph/fusion.h"
#include "graph/partition.h"

namespace tilewright::graph {

// Takes the concats that need no kernel out of `groups`. Aliases are of the results that lie in no
// other, in the order of their values.
std::vector<Alias> concat_in_place(const Graph& graph, std::span<const NodeFacts> facts,
                                   std::vector<FusedGroup>& groups);

}  // namespace tilewright::graph
