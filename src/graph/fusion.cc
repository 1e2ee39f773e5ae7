#include "graph/fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/view.h"
#include "te/iterations.h"

namespace tilewright::graph {
namespace {

constexpr size_t kMaxNodes = 24;  // of a group: larger loop nests cannot be scheduled well
constexpr int64_t kMaxFusedInstructions = 400;
constexpr int64_t kMaxWrittenOut = 4000;  // instructions, if each read of a value is inlined
constexpr size_t kMaxBranches = 12;       // nodes between a value and the join of its readers
constexpr size_t kMaxParts = 4;           // of a concat that is inlined
constexpr double kCheapInstructions = 8;  // of all copies of a fused producer

bool is_output(const Graph& graph, ValueId value) {
  return std::ranges::find(graph.outputs(), value) != graph.outputs().end();
}

const std::vector<int64_t>& shape_of(const Graph& graph, const Node& node) {
  return graph.value(node.outputs[0]).type.shape;
}

bool has_affine_indices(const te::Dag& dag) {
  for (te::OpId id = 0; id < dag.ops().size(); ++id) {
    for (const te::Access& read : dag.access(id).reads) {
      if (!std::ranges::all_of(read.dims, &te::AccessDim::affine)) return false;
    }
  }
  return true;
}

// How often the operators of the anchor read an element of a value of `elements`, at most: the
// iterations of the largest one.
double copies_of(const te::Dag& dag, int64_t elements) {
  double max_trips = 0;
  for (te::OpId id = 0; id < dag.ops().size(); ++id) {
    if (dag.op(id).kind == te::OpKind::Placeholder) continue;
    max_trips = std::max(max_trips, te::trip_count(dag.op(id)));
  }
  return max_trips / static_cast<double>(elements);
}

// Reads each element once in each of a few passes over a row that stays in cache.
bool goes_over_rows(const OpDef& op) {
  constexpr std::string_view kNames[] = {"arg_reduce", "group_norm", "layer_norm", "lp_norm",
                                         "reduce",     "rms_norm",   "softmax"};
  return std::ranges::find(kNames, op.name) != std::end(kNames);
}

// A convolution with one tap: its tiles hold all channels of few pixels, so a fused producer is
// computed once per tile, in cache.
bool is_pointwise(const Graph& graph, const Node& node) {
  if (node.op != "conv" || node.attributes.integer("groups", 1) != 1) return false;
  const TensorType& x = graph.value(node.inputs[0]).type;
  const TensorType& w = graph.value(node.inputs[1]).type;
  const TensorType& y = graph.value(node.outputs[0]).type;
  const bool last = node.attributes.integer("channels_last", 0) != 0;
  const int64_t in = last ? x.shape.back() : x.shape[1];
  const int64_t out = last ? y.shape.back() : y.shape[1];
  return w.elements() == in * out && x.elements() / in == y.elements() / out;
}

int64_t instructions_of(const te::Dag& dag) {
  int64_t sum = 0;
  for (te::OpId id = 0; id < dag.ops().size(); ++id) sum += dag.access(id).instructions;
  return sum;
}

class Fuser {
 public:
  Fuser(const Graph& graph, std::span<const NodeFacts> facts, const FusionPays& pays)
      : graph_(graph),
        facts_(facts),
        pays_(pays),
        uses_(graph.uses()),
        group_of_(graph.nodes().size(), kNone),
        before_anchor_(graph.nodes().size()) {}

  std::vector<FusedGroup> run() {
    for (const Work work : {Work::Heavy, Work::Rows}) {
      for (NodeId id = 0; id < facts_.size(); ++id) {
        if (facts_[id].live && facts_[id].op->work == work) grow_behind(begin_group(id));
      }
    }
    for (NodeId id = static_cast<NodeId>(facts_.size()); id-- > 0;) {
      if (facts_[id].live && group_of_[id] == kNone) place(id);
    }
    drop_leading_views();
    for (FusedGroup& group : groups_) std::ranges::sort(group.nodes);
    std::ranges::sort(groups_, {}, [](const FusedGroup& group) { return group.nodes.back(); });
    return std::move(groups_);
  }

 private:
  uint32_t begin_group(NodeId anchor) {
    groups_.push_back({.nodes = {anchor}, .anchor = anchor});
    instructions_.push_back(instructions_of(*facts_[anchor].dag));
    group_of_[anchor] = static_cast<uint32_t>(groups_.size() - 1);
    return group_of_[anchor];
  }

  void join(NodeId id, uint32_t group) {
    groups_[group].nodes.push_back(id);
    instructions_[group] += instructions_of(*facts_[id].dag);
    group_of_[id] = group;
  }

  // Whether the group with these nodes still compiles fast.
  bool has_room(uint32_t group, std::span<const NodeId> more) const {
    std::vector<NodeId> nodes = groups_[group].nodes;
    nodes.insert(nodes.end(), more.begin(), more.end());
    int64_t sum = instructions_[group];
    for (const NodeId id : more) sum += instructions_of(*facts_[id].dag);
    return nodes.size() <= kMaxNodes && sum <= kMaxFusedInstructions &&
           written_out(std::move(nodes)) <= kMaxWrittenOut;
  }

  // Instructions of the last node with all others inlined at each read: x * x with x = y * y reads
  // y four times.
  int64_t written_out(std::vector<NodeId> nodes) const {
    std::ranges::sort(nodes);
    std::map<NodeId, int64_t> size;
    for (const NodeId id : nodes) {
      const Work work = facts_[id].op->work;
      size[id] = 1;
      if (work == Work::Heavy || work == Work::Rows) continue;
      size[id] = instructions_of(*facts_[id].dag);
      for (const ValueId input : graph_.node(id).inputs) {
        if (input == kNone) continue;
        const auto producer = size.find(graph_.value(input).producer);
        if (producer != size.end()) size[id] += producer->second;
      }
    }
    return size.rbegin()->second;
  }

  // Live readers of a node's results.
  std::set<NodeId> readers_of(const Node& node) const {
    std::set<NodeId> readers;
    for (const ValueId value : node.outputs) {
      for (const NodeId reader : uses_[value]) {
        if (facts_[reader].live) readers.insert(reader);
      }
    }
    return readers;
  }

  // One result, which is not an output of the Graph.
  bool stays_inside(const Node& node) const {
    return node.outputs.size() == 1 && !is_output(graph_, node.outputs[0]);
  }

  // ---- epilogues ----

  void grow_behind(uint32_t group) {
    NodeId last = groups_[group].anchor;
    const std::vector<int64_t> rows = rows_of(last);
    while (true) {
      const std::vector<NodeId> next = meeting_readers(last, rows);
      if (next.empty() || !has_room(group, next)) return;
      for (const NodeId id : next) join(id, group);
      last = next.back();
    }
  }

  // The shape of the rows of a reduction over the last dimensions that keeps them; else empty. A
  // node that broadcasts its result to that shape iterates over the same rows.
  std::vector<int64_t> rows_of(NodeId anchor) const {
    const Node& node = graph_.node(anchor);
    if (node.op != "reduce" || node.inputs.empty()) return {};
    const std::vector<int64_t>& shape = graph_.value(node.inputs[0]).type.shape;
    const std::vector<int64_t>& made = shape_of(graph_, node);
    if (made.size() != shape.size()) return {};
    bool reduced = false;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (reduced && made[d] != 1) return {};
      reduced = reduced || made[d] != shape[d];
    }
    return shape;
  }

  // The Map nodes, of the same shape or of the rows, through which the node's value is read, up to
  // the one where all paths join; empty if there is none.
  std::vector<NodeId> meeting_readers(NodeId from, const std::vector<int64_t>& rows) const {
    const Node& node = graph_.node(from);
    std::vector<NodeId> found;
    if (!stays_inside(node)) return found;
    std::set<NodeId> open = readers_of(node);  // ascending, so producers before their readers
    while (!open.empty() && found.size() < kMaxBranches) {
      const NodeId id = *open.begin();
      const Node& reader = graph_.node(id);
      const std::vector<int64_t>& shape = shape_of(graph_, reader);
      const bool fits = shape == shape_of(graph_, node) || (!rows.empty() && shape == rows);
      if (facts_[id].op->work != Work::Map || group_of_[id] != kNone ||
          reader.outputs.size() != 1 || !fits) {
        return {};
      }
      found.push_back(id);
      if (open.size() == 1) return found;
      if (!stays_inside(reader)) return {};
      open.erase(open.begin());
      open.merge(readers_of(reader));
    }
    return {};
  }

  // ---- prologues ----

  void place(NodeId id) {
    const Node& node = graph_.node(id);
    const Work work = facts_[id].op->work;
    uint32_t group = kNone;
    if (stays_inside(node)) group = group_of_readers(node);
    if (work == Work::View) {
      if (group != kNone && facts_[id].affine) join_before(id, group);
      return;
    }
    if (group != kNone && has_room(group, {&id, 1}) && may_join(id, group)) {
      join_before(id, group);
    } else {
      begin_group(id);
    }
  }

  // The group of all readers.
  uint32_t group_of_readers(const Node& node) const {
    uint32_t group = kNone;
    for (const NodeId reader : readers_of(node)) {
      if (group_of_[reader] == kNone) return kNone;
      if (group != kNone && group_of_[reader] != group) return kNone;
      group = group_of_[reader];
    }
    return group;
  }

  void join_before(NodeId id, uint32_t group) {
    for (const NodeId reader : readers_of(graph_.node(id))) {
      before_anchor_[id] =
          before_anchor_[id] || before_anchor_[reader] || reader == groups_[group].anchor;
    }
    join(id, group);
  }

  bool feeds_anchor(NodeId id, uint32_t group) const {
    const std::set<NodeId> readers = readers_of(graph_.node(id));
    return std::ranges::any_of(readers, [&](NodeId reader) {
      return before_anchor_[reader] || reader == groups_[group].anchor;
    });
  }

  bool may_join(NodeId id, uint32_t group) const {
    const NodeId anchor = groups_[group].anchor;
    for (const NodeId reader : readers_of(graph_.node(id))) {
      if (facts_[reader].op->name == "concat" && !is_small_concat(reader)) return false;
    }
    const bool feeds = feeds_anchor(id, group);
    const Work anchor_work = facts_[anchor].op->work;
    if (facts_[id].op->work == Work::Map) return map_joins(id, anchor, feeds);
    if (facts_[id].op->work != Work::Move) return false;
    return move_joins(id, anchor, feeds ? anchor_work : Work::Map);
  }

  bool map_joins(NodeId id, NodeId anchor, bool feeds) const {
    if (!feeds) return true;
    const OpDef& op = *facts_[anchor].op;
    switch (op.work) {
      case Work::Heavy:
        return pays(id, anchor);
      case Work::Rows:
        return goes_over_rows(op) || pays(id, anchor);
      case Work::Move:
        return facts_[anchor].affine;
      default:
        return true;
    }
  }

  // Whether a Move node may join work of this kind.
  bool move_joins(NodeId id, NodeId anchor, Work before) const {
    const std::string_view op = facts_[id].op->name;
    if (op == "concat") return before <= Work::Move && is_small_concat(id);
    if (op == "gather") return before == Work::Map || before == Work::Rows;
    if (!facts_[id].affine) return false;
    if (before == Work::Rows && op == "transpose") return facts_[anchor].op->name == "reduce";
    if (before == Work::Move) return facts_[anchor].affine;
    return true;
  }

  // Few parts, none of them written by a kernel with an anchor, which could write in place.
  bool is_small_concat(NodeId id) const {
    const Node& node = graph_.node(id);
    return node.inputs.size() <= kMaxParts && std::ranges::all_of(node.inputs, [&](ValueId part) {
             const NodeId producer = graph_.value(part).producer;
             if (producer == kNone) return true;
             const Work work = facts_[producer].op->work;
             const bool own = group_of_[producer] == kNone || group_of_[producer] == group_of_[id];
             return own && (work == Work::Map || work == Work::Move);
           });
  }

  bool pays(NodeId id, NodeId anchor) const {
    const TensorType& type = graph_.value(graph_.node(id).outputs[0]).type;
    return pays_(graph_, {.producer = id,
                          .anchor = anchor,
                          .copies = copies_of(*facts_[anchor].dag, type.elements()),
                          .instructions = instructions_of(*facts_[id].dag),
                          .bytes = type.bytes()});
  }

  // Views of values from outside the group are aliases.
  void drop_leading_views() {
    for (NodeId id = 0; id < facts_.size(); ++id) {
      if (group_of_[id] == kNone || !is_leading_view(id)) continue;
      std::erase(groups_[group_of_[id]].nodes, id);
      group_of_[id] = kNone;
    }
    std::erase_if(groups_, [](const FusedGroup& group) { return group.nodes.empty(); });
  }

  bool is_leading_view(NodeId id) const {
    const Node& node = graph_.node(id);
    if (!view_offset(graph_, node)) return false;
    const Value& whole = graph_.value(node.inputs[0]);
    if (whole.producer != kNone && group_of_[whole.producer] == group_of_[id]) return false;
    if (facts_[id].op->work == Work::View) return true;
    // A slice is a kernel if it is an output.
    return !whole.is_constant() && !reaches_output(graph_, uses_, node.outputs[0]);
  }

  const Graph& graph_;
  std::span<const NodeFacts> facts_;
  const FusionPays& pays_;
  std::vector<std::vector<NodeId>> uses_;  // by value
  std::vector<FusedGroup> groups_;
  std::vector<int64_t> instructions_;  // per element of all stages, by group
  std::vector<uint32_t> group_of_;     // by node
  std::vector<bool> before_anchor_;    // by node: its value reaches the anchor of its group
};

void mark_live(const Graph& graph, std::vector<NodeFacts>& facts) {
  const auto mark = [&](ValueId value) {
    if (value != kNone && graph.value(value).producer != kNone) {
      facts[graph.value(value).producer].live = true;
    }
  };
  for (const ValueId output : graph.outputs()) mark(output);
  for (size_t id = facts.size(); id-- > 0;) {
    if (!facts[id].live) continue;
    for (const ValueId input : graph.node(static_cast<NodeId>(id)).inputs) mark(input);
  }
}

}  // namespace

Result<std::vector<NodeFacts>> facts_of(const Graph& graph) {
  std::vector<NodeFacts> facts(graph.nodes().size());
  for (NodeId id = 0; id < facts.size(); ++id) {
    const Node& node = graph.node(id);
    facts[id].op = find_op(node.op);
    if (facts[id].op == nullptr) {
      return fail(ErrorKind::Unsupported, fmt::format("there is no operator '{}'", node.op));
    }
    std::vector<std::optional<TensorType>> types;
    types.reserve(node.inputs.size());
    for (const ValueId input : node.inputs) {
      types.push_back(input == kNone ? std::nullopt : std::optional(graph.value(input).type));
    }
    auto dag = facts[id].op->define(node.attributes, types);
    if (!dag) {
      return fail(dag.error().kind, fmt::format("{} ({}): {}", graph.value(node.outputs[0]).name,
                                                node.op, dag.error().message));
    }
    facts[id].dag = *std::move(dag);
    facts[id].affine = has_affine_indices(*facts[id].dag);
  }
  mark_live(graph, facts);
  return facts;
}

bool fusion_pays_by_default(const Graph& graph, const FusionQuestion& question) {
  const auto instructions = static_cast<double>(question.instructions);
  if (question.copies * instructions <= kCheapInstructions) return true;
  return instructions <= kCheapInstructions && is_pointwise(graph, graph.node(question.anchor));
}

std::vector<FusedGroup> fuse(const Graph& graph, std::span<const NodeFacts> facts,
                             const FusionPays& pays) {
  return Fuser(graph, facts, pays).run();
}

std::vector<FusedGroup> no_fusion(const Graph& graph, std::span<const NodeFacts> facts) {
  std::vector<FusedGroup> groups;
  groups.reserve(graph.nodes().size());
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (facts[id].live && facts[id].op->work != Work::View) {
      groups.push_back({.nodes = {id}, .anchor = id});
    }
  }
  return groups;
}

}  // namespace tilewright::graph
