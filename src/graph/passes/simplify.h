// Algebraic simplification of single nodes:
//
//   x + 0, x * 1, x / 1, x - 0, pow(x, 1), cast to its own type, reshape to its own shape,
//   slice of all, concat of one, pad by nothing, pool of 1   ->   x
//   reshape of reshape, slice of slice, relu of relu         ->   one of them
//   clip(x, 0, inf), max(x, 0)        ->   relu(x)
//   pow(x, 2), (x, 3), (x, 0.5)       ->   x * x, x * x * x, sqrt(x)
//   x / c                             ->   x * (1 / c)      powers of two; others by `reassociate`
//   (x + a) + b, (x * a) * b          ->   x + (a + b), x * (a * b)          by `reassociate`
//   gather(x, k)                      ->   slice(x)         if indices are evenly spaced
//   contract(x, w; ik, jk, ij)        ->   contract(x, w'; ik, kj, ij)       constant w
//   conv(pad(x))                      ->   conv(x) with larger pads          zeros only
//   map(broadcast(x), y)              ->   map(x, y), broadcast again if the result needs it
//   and(x, true), or(x, false)        ->   x or its broadcast
//   reduce over extents of 1          ->   reshape
//
// Division by a constant that is not a power of two rounds differently from the product, which
// `reassociate` permits, as in other compilers. x + 0 may lose the sign of a zero. 0 and 1 above
// are scalars, not tensors of zeros or ones.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> simplify(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
