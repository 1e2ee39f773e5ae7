// The te::Dag of a group, composed from the Dags of its nodes. Placeholders are the values from
// outside the group, each once, in order of first use. Nodes are in the order of a traversal from
// the last one through its operands, so equal groups have equal Dags anywhere in a model. A
// constant of one element becomes a number in the expressions.
//
//   {conv, add, relu} of x, w, b    ->  n0_X, n0_W, n0_P, n0_Y, n1_B, n1_Y, n2_Y
//   {conv} of x, w                  ->  X, W, P, Y: the Dag of the node, and its names
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/fusion.h"

namespace tilewright::graph {

struct GroupDag {
  std::shared_ptr<const te::Dag> dag;
  std::vector<std::string> constants;  // names of the placeholders of constants
  std::vector<ValueId> arguments;      // of its inputs, then of its outputs
  std::vector<NodeId> order;           // the nodes, in the order of the traversal
};

GroupDag build_group_dag(const Graph& graph, std::span<const NodeFacts> facts,
                         const FusedGroup& group);

}  // namespace tilewright::graph
