// Gives each output of a Graph bytes of its own, which a partition needs.
//
//   before   outputs y, y, reshape(x)        (x an input)
//   after    outputs y, cast(y), cast(reshape(x))
//
// After it an output is computed by a node and is no View of an input, a constant or another output:
// where one is not, a copy of it is made (`cast` to its own type).
#pragma once

#include "base/result.h"
#include "graph/graph.h"

namespace tilewright::graph {

Result<Graph> separate_outputs(const Graph& graph);

}  // namespace tilewright::graph
