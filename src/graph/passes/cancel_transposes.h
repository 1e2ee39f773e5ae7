// Transposes of transposes become one; those that change nothing vanish, those that move dimensions
// of extent 1 only become reshapes, those of constants become constants.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> cancel_transposes(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
