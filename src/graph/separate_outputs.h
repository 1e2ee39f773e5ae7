// Makes each output of a Graph a separate value, as partitioning requires.
//
//   before   outputs y, y, reshape(x)        (x an input)
//   after    outputs y, cast(y), cast(reshape(x))
//
// Afterwards every output is computed by a node and is not a View of an input, a constant or
// another output. Where needed, a copy is made (`cast` to its own type). Parts of a concat are
// copied too: that is less work than a copy of all its parts, which would otherwise not be in
// place.
#pragma once

#include "base/result.h"
#include "graph/graph.h"

namespace tilewright::graph {

Result<Graph> separate_outputs(const Graph& graph);

}  // namespace tilewright::graph
