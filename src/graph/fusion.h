// Fusion: which nodes of a Graph become one kernel, by the kind of their work (op_table.h).
//
// A group has one result, that of its last node, and at most one Heavy or Rows node, its anchor.
// Two passes over the nodes form the groups:
//   1. Epilogues. Heavy nodes, then Rows nodes, absorb the following Map nodes that keep the shape:
//      bias, activation, residual add. If a value has several readers, all paths from it must join
//      again within the group: x * sigmoid(x). A reduction of the last dimensions also absorbs the
//      node that broadcasts its result to the shape of its operand: x / sum(x).
//   2. Prologues, backwards over the other nodes: a Map or Move node joins the group that is its
//   only
//      reader if that saves a pass over memory (pad into a convolution, a transposed operand of a
//      contraction, a scaled operand of a softmax). Otherwise it starts a group.
// A View between two nodes of a group joins it if its index is affine; other Views become aliases.
//
//   conv -> add -> relu -> pool        {conv, add, relu}, {pool}
//   slice -> neg -> concat -> mul      {slice, neg, concat, mul}
//
// Deterministic. Only the last node of a group has readers outside it, so the groups can run in the
// order of their last nodes.
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

// Facts about a node, computed once.
struct NodeFacts {
  const OpDef* op = nullptr;
  std::shared_ptr<const te::Dag> dag;
  bool live = false;    // some output of the Graph depends on it
  bool affine = false;  // all indices in its Dag are affine
};
Result<std::vector<NodeFacts>> facts_of(const Graph& graph);

// A Map node before a Heavy node, or before a Rows node that reads elements repeatedly (a pool):
// whether to compute it in the kernel that reads it.
struct FusionQuestion {
  NodeId producer = kNone;
  NodeId anchor = kNone;
  double copies = 1;         // how often the anchor reads each element of the producer's value
  int64_t instructions = 0;  // estimate per element
  int64_t bytes = 0;         // of the value, which fusion neither writes nor reads
};
using FusionPays = std::function<bool(const Graph& graph, const FusionQuestion& question)>;
// True if all copies together are cheap, or a single one before a convolution with one tap.
bool fusion_pays_by_default(const Graph& graph, const FusionQuestion& question);

struct FusedGroup {
  std::vector<NodeId> nodes;  // ascending; the last one computes the result of the group
  NodeId anchor = kNone;      // its Heavy or Rows node; else the last
};

// In the order of their last nodes. Every live node is in exactly one group, except views of values
// from outside the group (view.h).
std::vector<FusedGroup> fuse(const Graph& graph, std::span<const NodeFacts> facts,
                             const FusionPays& pays);
// One group per live node, except Views.
std::vector<FusedGroup> no_fusion(const Graph& graph, std::span<const NodeFacts> facts);

}  // namespace tilewright::graph
