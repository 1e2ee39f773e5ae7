// Scatters at places that are constants, which say for each element of the result which update it
// is, if any: a gather and a choice, in place of a question to all updates. As exporters write the
// assignment to a slice of a mask.
//
//   scatter_nd(x, indices, updates)        ->   where(hit, gather(updates, which), x)
//   where all are hit in their order            updates under another shape
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> invert_scatters(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
