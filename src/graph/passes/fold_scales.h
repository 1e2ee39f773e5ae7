// Moves a scalar factor backwards into constants (permissions `fold` and `reassociate`), through
// linear nodes with a single reader:
//
//   contract(transpose(reshape(contract(x, wq) + bq)), k) * 0.125
//     ->   contract(transpose(reshape(contract(x, wq * 0.125) + bq * 0.125)), k)
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> fold_scales(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
