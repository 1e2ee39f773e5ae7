// Constant folding: computes nodes at compile time whose operands are all constants.
//
//   transpose(w; perm=[1,0])   ->   the transposed constant
//
// Nodes that only move elements are folded at any size, unless the result is much larger than the
// operands. A broadcast of more than a few elements stays, since readers broadcast themselves.
// Other nodes are interpreted if small; large ones are left to PassOptions::execute, or to the run
// time without it. The total is bounded, in bytes in proportion to the model's constants.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> fold_constants(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
