// GraphView: a planned model as boxes and edges: kernels with the nodes fused into each, their
// operands, and the recorded time of each kernel. A value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/model_tasks.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/stop_token.h"
#include "deploy/compile_model.h"

namespace tilewright::app {

struct GraphBox {
  std::string title;
  std::string detail;                // types of its results
  std::vector<std::string> nodes{};  // nodes fused into it: `conv (Conv_12)`
  std::optional<Hash128> task{};     // its key; none: not a kernel
  double ns = 0;                     // of one call; 0: unknown
  std::vector<size_t> from{};        // boxes that it reads from, ascending
};

// Boxes are in this order: inputs, kernels in execution order, outputs.
struct GraphView {
  std::string name;
  std::vector<GraphBox> boxes;
  size_t nodes = 0, steps = 0, kernels = 0;  // counts of the planned model

  double sum_ns() const;
};

// A requested stop is an error.
Result<GraphView> view_model(const ModelOptions& options, const StopToken& stop = {});

GraphView view_of(const deploy::ModelPlan& plan, std::span<const deploy::Choice> choices,
                  const Target& target, const std::string& name);

}  // namespace tilewright::app
