#include "graph/passes/dead_code.h"

#include "graph/passes/rewrite.h"

namespace tilewright::graph {

Result<Graph> dead_code(const Graph& graph, const PassOptions& /*options*/) {
  return pruned(graph);
}

}  // namespace tilewright::graph
