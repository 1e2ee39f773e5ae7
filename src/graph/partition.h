// Partition: the nodes of a Graph in groups, each of which is one kernel (fusion.h), and the
// workload of each group, whose te::Dag is composed from those of its nodes (group_dag.h).
//
// Views between groups are aliases (view.h). A concat whose parts are computed by kernels is
// written in place (in_place.h): a part is an operand within a larger array. Groups are in an order
// in which they can run. Nodes that no output depends on are in no group.
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
  std::string title;               // display name: `conv2d 3x3 64->64 + add + relu`
};

// `value` is stored in the bytes of `of` from `offset` on: a reshape, a contiguous slice, or a part
// of a concat in place. Its elements are contiguous, or, if `within` is not empty, laid out as in a
// row-major array of those extents.
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
  bool fuse = true;             // false: one group per node, and no concat in place
  bool concat_in_place = true;  // false: each concat is a kernel or part of one
  bool pack_weights = true;     // false: constants are operands like others, in row-major order
  FloatPermissions
      permissions;  // of all kernels; `winograd` is ignored: it is set for conv_winograd alone
  FusionPays pays;  // empty: fusion_pays_by_default
};

// Partitions a Graph with separate outputs (separate_outputs.h). Fails if the Dag of a node cannot
// become a workload; the message names the node.
Result<Partition> partition(const Graph& graph, const PartitionOptions& options);

}  // namespace tilewright::graph
