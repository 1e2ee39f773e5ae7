// The display name of a group: its nodes in the order in which they are computed.
//
//   conv2d 3x3 64->64 s2 + add + relu      matmul 128x768x768 + add + gelu
//   depthwise2d 3x3 96                      add + layer_norm 1x128x768
#pragma once

#include <span>
#include <string>

#include "graph/fusion.h"

namespace tilewright::graph {

// `order`: GroupDag::order of the group.
std::string title_of(const Graph& graph, const FusedGroup& group, std::span<const NodeId> order);

}  // namespace tilewright::graph
