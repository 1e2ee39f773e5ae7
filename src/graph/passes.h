// The passes over a Graph: a flat list, in order; each can be disabled by name. A pass returns a
// Graph that computes the same results, within the float permissions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/stop_token.h"
#include "graph/evaluate.h"
#include "graph/graph.h"
#include "task/workload.h"

namespace tilewright::graph {

struct PassOptions {
  std::vector<std::string> off{};  // names of disabled passes
  FloatPermissions permissions{};
  Execute execute{};  // computes large constants; without it they are computed at run time
  StopToken stop{};   // checked before each pass and each folded node; a requested stop is an error
};

struct Pass {
  std::string_view name;
  std::string_view doc;
  Result<Graph> (*run)(const Graph& graph, const PassOptions& options);
};

// In the order in which they run. Some run twice; disabling one disables both.
std::span<const Pass> all_passes();

// Runs all passes in order. An unknown name in `off` is an error that lists the names. The result
// has no dead nodes, and names for its outputs.
Result<Graph> run_passes(const Graph& graph, const PassOptions& options);

}  // namespace tilewright::graph
