// What `tilewright graph` shows of a planned model: kernels with the nodes that were fused into
// each, who reads from whom, and how long each takes where that is known. Values; pure functions of
// them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "deploy/compile_model.h"

namespace tilewright::cli {

struct GraphBox {
  std::string title;
  std::string detail;                // types of what it gives
  std::vector<std::string> nodes{};  // fused into it: `conv (Conv_12)`
  std::string task{};                // key, short; empty: no kernel
  double ns = 0;                     // of one call; 0: not known
  std::vector<size_t> from{};        // boxes that it reads, ascending
};

// Inputs, kernels in the order in which they run, outputs.
struct GraphView {
  std::string name;
  std::vector<GraphBox> boxes;

  double sum_ns() const;
};

GraphView view_of(const deploy::ModelPlan& plan, std::span<const deploy::Choice> choices,
                  const Target& target, const std::string& name);

std::string graph_text(const GraphView& view);
Json graph_json(const GraphView& view);
// A picture of its own: boxes in layers, what takes long is darker.
std::string graph_svg(const GraphView& view);

}  // namespace tilewright::cli
