#include "graph/passes/cancel_transposes.h"

#include "graph/passes/arrange.h"

namespace tilewright::graph {

Result<Graph> cancel_transposes(const Graph& graph, const PassOptions& /*options*/) {
  return arrange(graph, {.push = false, .contracts = false, .windows = false});
}

}  // namespace tilewright::graph
