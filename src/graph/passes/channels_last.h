// Convolutions compute with channels last, where the search finds vectors; weights are transposed
// at compile time. Transposes are moved through all that has an order of dimensions until they meet
// and cancel: what is left is one at an input and at an output that are images. A flattened image
// before a classifier keeps its order, and the classifier's weights are reordered.
//
//   conv(x, w) -> relu -> pool    ->    transpose(x) -> conv(w') -> relu -> pool -> transpose
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> channels_last(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
