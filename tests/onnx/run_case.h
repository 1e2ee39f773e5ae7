// One of ONNX's node tests: imported, computed, compared.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "tests/onnx/node_cases.h"

namespace tilewright::onnx {

enum class Outcome { Passed, Failed, Unsupported, Crashed };

struct CaseResult {
  Outcome outcome = Outcome::Failed;
  std::string reason;           // unless it passed
  bool fixed_operands = false;  // operands that determine shapes were passed as constants
};

// Computes the outputs of a Graph.
using Compute = std::function<Result<std::vector<graph::Constant>>(
    const graph::Graph& graph, std::span<const graph::Constant> inputs)>;

// Node by node, by graph/evaluate.
Result<std::vector<graph::Constant>> compute_by_evaluation(const graph::Graph& graph,
                                                           std::span<const graph::Constant> inputs);

CaseResult run_case(const NodeCase& node_case, const Compute& compute);

}  // namespace tilewright::onnx
