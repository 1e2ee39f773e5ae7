// Recognizes gelu in the forms that exporters write, in any order of factors (permission
// `reassociate`):
//
//   0.5 * x * (1 + erf(x / sqrt 2))                             ->   gelu(x; approximate=none)
//   0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))     ->   gelu(x; approximate=tanh)
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> recognize_gelu(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
