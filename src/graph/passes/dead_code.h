// Dead code elimination: drops nodes and constants that no output needs. Inputs of the model stay.
//
//   y = relu(x); z = exp(x); outputs y   ->   y = relu(x); outputs y
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> dead_code(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
