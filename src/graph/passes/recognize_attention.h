// Recognizes attention from its parts, by the letters of two contractions, in any order of
// dimensions:
//
//   c = contract(q, k; a=bihd, b=bjhd, out=bhij)
//   p = softmax(c * 0.125 + mask)            also where(mask, c, -inf), or both, with reshapes
//   contract(p, v; a=bhij, b=bjhe, out=bihe)
//     ->   attention(q, k, v, mask; scale=0.125, q=bihd, k=bjhd, v=bjhe, scores=bhij, out=bihe)
//
// Includes where(is_nan(p), 0, p) for p, and with scalar factors of q or k. Intermediate values
// have no other readers. Permission `reassociate`: rows are divided by their sums after the second
// contraction.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> recognize_attention(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
