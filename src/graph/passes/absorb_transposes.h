// Transposes of what contractions read and write become other letters, also behind elementwise
// nodes and views:
//
//   contract(transpose(q; [0,2,1,3]), k; a=bhid, ..)    ->    contract(q, k; a=bihd, ..)
//   transpose(contract(p, v; .., out=bhid); [0,2,1,3])  ->    contract(p, v; .., out=bihd)
//
// A Graph in which that would move more bytes than before stays as it is.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> absorb_transposes(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
