// Concats without a kernel: the kernels that compute the parts write them into the result, and
// readers of a part read it there.
//
//   concat(a, b) of [1, 8, 8, 32] and [1, 8, 8, 64] along the last axis, made by kernels:
//     a and b are stored in the result from elements 0 and 32 on, within [1, 8, 8, 96]
//   concat(a, b, c) so, and concat(a, b):   the latter is part of the former too
//
// A part is stored in one result only. It is not an input, constant or output of the model, nor a
// view of another value. If it has views itself, it must be contiguous. Larger results go first.
#pragma once

#include <span>
#include <vector>

#include "graph/fusion.h"
#include "graph/partition.h"

namespace tilewright::graph {

// Removes the concats that need no kernel from `groups`. Aliases refer to results that are not
// parts themselves, in the order of their values.
std::vector<Alias> concat_in_place(const Graph& graph, std::span<const NodeFacts> facts,
                                   std::vector<FusedGroup>& groups);

}  // namespace tilewright::graph
