// Fusion: which nodes of a Graph become one kernel, by the kind of their work (op_table.h).
//
// A group has one value that leaves it, that of its last node, and at most one Heavy or Rows node,
// its anchor. In this order, each once over the nodes:
//   1. Heavy nodes, then Rows nodes, take the Map nodes behind them that keep the shape: bias,
//      activation, residual add. Where a value is read several times, all paths from it must meet
//      again within the group: x * sigmoid(x). Behind a reduction of the last dimensions also what
//      brings its result back to the shape of its operand: x / sum(x).
//   2. Backwards over what is left: a Map or Move node joins the group that alone reads it where
//      that costs no pass over memory (pad into a convolution, a transposed operand of a
//      contraction, a scaled one of a softmax); else it begins a group.
// Views join where they lie between two nodes of a group and their index is affine; all others are
// left to be aliases.
//
//   conv -> add -> relu -> pool        {conv, add, relu}, {pool}
//   slice -> neg -> concat -> mul      {slice, neg, concat, mul}
//
// Deterministic. Since all but the last node of a group are read by the group alone, groups in the
// order of their last nodes can run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "graph/op_table.h"
#include "te/dag.h"

namespace tilewright::graph {

// What is asked of a node again and again.
struct NodeFacts {
  const OpDef* op = nullptr;
  std::shared_ptr<const te::Dag> dag;
  bool live = false;    // some output of the Graph depends on it
  bool affine = false;  // all indices in its Dag are affine
};
Result<std::vector<NodeFacts>> facts_of(const Graph& graph);

// A Map node before a Heavy node, or before a Rows node that reads elements many times (a pool): is
// it computed in the kernel that reads it?
struct FusionQuestion {
  NodeId producer = kNone;
  NodeId anchor = kNone;
  double copies = 1;         // how often the anchor reads each element of the producer's value
  int64_t instructions = 0;  // of one element, an estimate
  int64_t bytes = 0;         // of the value, which is neither written nor read when it is fused
};
using FusionPays = std::function<bool(const Graph& graph, const FusionQuestion& question)>;
// Where it is cheap, all copies together, or one of them before a convolution of one tap.
bool fusion_pays_by_default(const Graph& graph, const FusionQuestion& question);

struct FusedGroup {
  std::vector<NodeId> nodes;  // ascending; the value of the last one leaves the group
  NodeId anchor = kNone;      // its Heavy or Rows node; else the last
};

// In the order of their last nodes. Every live node but Views is in one group.
std::vector<FusedGroup> fuse(const Graph& graph, std::span<const NodeFacts> facts,
                             const FusionPays& pays);
// Every live node but Views by itself.
std::vector<FusedGroup> no_fusion(const Graph& graph, std::span<const NodeFacts> facts);

}  // namespace tilewright::graph
