// Computes at compile time what depends on constants only.
//
//   transpose(w; perm=[1,0])   ->   the transposed constant
//
// What is moved only is moved whatever its size, unless the result is much larger than what it is
// made of; a broadcast of more than a few elements stays, for its readers do that themselves. Of
// the rest, what is small is computed element by element; what is large is left to
// PassOptions::execute, and without one to the run time. All together has a bound too, that of
// bytes in proportion to the model's constants: what is beyond is left to the run time.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> fold_constants(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
