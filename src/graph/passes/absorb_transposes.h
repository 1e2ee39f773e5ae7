// Transposes of the operands and results of contractions become other letters, also across
// elementwise nodes and Views:
//
//   contract(transpose(q; [0,2,1,3]), k; a=bhid, ..)    ->    contract(q, k; a=bihd, ..)
//   transpose(contract(p, v; .., out=bhid); [0,2,1,3])  ->    contract(p, v; .., out=bihd)
//
// The Graph is unchanged if that would move more bytes than before.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> absorb_transposes(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
