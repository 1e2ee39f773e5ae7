// Recognizes decomposed softmax, with or without the maximum, and its logarithm:
//
//   e = exp(x - max(x)); e / sum(e)                       ->   softmax(x)
//   log(softmax(x)), z - log(sum(exp(z))), z = x - max(x)  ->   softmax(x; log=1)
//
// Permission `reassociate`.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> recognize_softmax(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
