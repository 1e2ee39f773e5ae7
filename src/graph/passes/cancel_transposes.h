// Merges transposes of transposes, and removes identities. A transpose that only moves dimensions
// of extent 1 becomes a reshape; a transposed constant becomes a constant.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> cancel_transposes(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
