// GraphView: what a planned model looks like: kernels with the nodes that were fused into each,
// what reads from what, and how long each takes where the records know it. A value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/model_tasks.h"
#include "base/hash.h"
#include "base/result.h"
#include "deploy/compile_model.h"

namespace tilewright::app {

struct GraphBox {
  std::string title;
  std::string detail;                // types of what it gives
  std::vector<std::string> nodes{};  // fused into it: `conv (Conv_12)`
  std::optional<Hash128> task{};     // its key; none: no kernel
  double ns = 0;                     // of one call; 0: not known
  std::vector<size_t> from{};        // boxes that it reads, ascending
};

// Inputs, kernels in the order in which they run, outputs.
struct GraphView {
  std::string name;
  std::vector<GraphBox> boxes;
  size_t nodes = 0, steps = 0, kernels = 0;  // of the planned model

  double sum_ns() const;
};

Result<GraphView> view_model(const ModelOptions& options);

GraphView view_of(const deploy::ModelPlan& plan, std::span<const deploy::Choice> choices,
                  const Target& target, const std::string& name);

}  // namespace tilewright::app
