// Partition: the nodes of a Graph in groups, each one kernel. What is fused into what (fusion.h),
// and the workload of each group: one te::Dag made of the Dags of its nodes.
//
// Views between groups are aliases. A concat whose parts are made by kernels is written in place
// (in_place.h): a part is an operand that lies within a larger array. Groups are in an order in
// which they can run. Nodes on which no output depends are in no group.
#pragma once

#include <string>
#include <vector>

#include "graph/fusion.h"
#include "graph/graph.h"
#include "task/workload.h"

namespace tilewright::graph {

struct Group {
  std::vector<NodeId> nodes;       // ascending
  Workload workload;               // text is `dag:{...}`
  std::vector<ValueId> arguments;  // the value of each operand of the workload, in its order
  std::string title;               // for people: `conv2d 3x3 64->64 + add + relu`
};

// `value` lies in the bytes of `of` from `offset` on: a reshape, or a part of a concat in place.
// Its elements lie together, or, where `within` is not empty, as in a row-major array of those
// extents.
struct Alias {
  ValueId value = 0;
  ValueId of = 0;
  int64_t offset = 0;  // bytes
  std::vector<int64_t> within = {};
};

struct Partition {
  std::vector<Group> groups;
  std::vector<Alias> aliases;
  // The distinct workloads by key, in order of first use, and the groups of each.
  struct Kernel {
    Hash128 key;
    std::vector<size_t> groups;
  };
  std::vector<Kernel> kernels;
};

struct PartitionOptions {
  bool fuse = true;             // false: every node by itself, and no concat in place
  bool concat_in_place = true;  // false: each concat is a kernel or part of one
  bool pack_weights = true;     // false: constants are operands like others, in row-major order
  FloatPermissions
      permissions;  // of all kernels; `winograd` is that of conv_winograd, whatever it is
  FusionPays pays;  // empty: fusion_pays_by_default
};

// Of a Graph with separate outputs (separate_outputs.h). An error when a node's Dag cannot be made a workload, naming
// it.
Result<Partition> partition(const Graph& graph, const PartitionOptions& options);

}  // namespace tilewright::graph
