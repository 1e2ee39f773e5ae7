// Converts convolutions to channels last, which vectorizes over channels; weights are transposed at
// compile time. Transposes are moved through the Graph until they cancel: one remains at each input
// and output that is an image. A flattened image before a classifier keeps its order, and the
// classifier's weights are reordered.
//
//   conv(x, w) -> relu -> pool    ->    transpose(x) -> conv(w') -> relu -> pool -> transpose
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> channels_last(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
