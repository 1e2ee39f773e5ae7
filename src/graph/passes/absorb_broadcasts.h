// Contractions read a broadcast operand without its broadcast dimensions.
//
//   contract(x, broadcast(y: [8,1,64] -> [8,128,64]); a=bik, b=bkj, out=bij)
//     ->   contract(x, reshape(y: [8,64]); a=bik, b=bj, out=bij)
//   contract(q: [1,12,7,64], reshape(broadcast(k: [1,4,1,9,64] -> [1,4,3,9,64]): [1,12,9,64]);
//            a=bhik, b=bhjk, out=bhij)
//     ->   reshape(contract(reshape(q: [1,4,3,7,64]), k: [1,4,9,64]; a=bhgik, b=bhjk, out=bhgij))
//
// The second form is grouped-query attention: several heads share keys and values.
#pragma once

#include "graph/passes.h"

namespace tilewright::graph {

Result<Graph> absorb_broadcasts(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
