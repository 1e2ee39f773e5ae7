// The passes over a Graph, a flat list in their order; each can be left out by name. A pass gives a
// Graph that computes the same (within the float permissions).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/evaluate.h"
#include "graph/graph.h"
#include "task/workload.h"

namespace tilewright::graph {

struct PassOptions {
  std::vector<std::string> off;  // names of passes that are left out
  FloatPermissions permissions;
  Execute execute;  // for large constants; without one they are computed at run time
};

struct Pass {
  std::string_view name;
  std::string_view doc;
  Result<Graph> (*run)(const Graph& graph, const PassOptions& options);
};

// In the order in which they run; some run twice, and leaving them out leaves out both.
std::span<const Pass> all_passes();

// All of them in order. An unknown name in `off` is an error that lists the names. The result has
// no dead nodes, and names for its outputs.
Result<Graph> run_passes(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
