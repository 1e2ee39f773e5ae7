// Partition: the nodes of a Graph in groups, each one kernel. What is fused into what, and the
// workload of each group: one te::Dag made of the Dags of its nodes.
//
// A group has at most one Heavy node and around it what costs no pass over memory of its own: Move
// and Map nodes that it alone reads (pad into a convolution, a transposed operand), and the chain
// of Map nodes behind it (bias, activation, residual add). Views between groups are aliases.
// concat whose parts are made by kernels is written in place where a part is a contiguous range;
// else it is a kernel. Groups are in an order in which they can run.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "task/workload.h"

namespace tilewright::graph {

struct Group {
  std::vector<NodeId> nodes;       // in order
  Workload workload;               // text is `dag:{...}` or that of a known operator
  std::vector<ValueId> arguments;  // the value of each operand of the workload, in its order
  std::string title;               // for people: `conv 3x3 64->64 + add + relu`
};

// `value` has the bytes of `of` from `offset` on: a reshape, or a part of a concat in place.
struct Alias {
  ValueId value = 0;
  ValueId of = 0;
  int64_t offset = 0;  // bytes
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
  bool fuse = true;  // false: every node by itself
  Licences licences;
};

// An error when a node's Dag cannot be made a workload, naming it.
Result<Partition> partition(const Graph& graph, const PartitionOptions& options);

}  // namespace tilewright::graph
