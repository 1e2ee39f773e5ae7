#include "graph/passes/recognize_group_norm.h"

#include <vector>

#include "graph/passes/constant_math.h"
#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

using Extents = std::vector<int64_t>;

// Omitted, or all elements are this number.
bool is_all(const Rewrite& rewrite, ValueId value, double number) {
  if (value == kNone) return true;
  const Constant& known = rewrite.constant(value);
  return !known.empty() && all_equal(known, number);
}

bool is_plain(const Rewrite& rewrite, const Node& norm) {
  return is_all(rewrite, operand(norm, 1), 1) && is_all(rewrite, operand(norm, 2), 0);
}

// reshape(group_norm(reshape(x)))
Result<ValueId> match_groups(Rewrite& rewrite, const Node& node, const std::vector<ValueId>& in,
                             const TensorType& type) {
  if (node.op != "reshape") return kNone;
  const Node* norm = rewrite.made_by(in[0], "group_norm");
  if (norm == nullptr || axis_of(*norm, 3, 1) != 1 || !is_plain(rewrite, *norm)) return kNone;
  const Node* before = rewrite.made_by(norm->inputs[0], "reshape");
  if (before == nullptr) return kNone;
  const ValueId x = before->inputs[0];
  const Extents& groups = rewrite.shape(norm->inputs[0]);
  const bool fits = rewrite.type(x) == type && type.shape.size() >= 3 && groups.size() >= 3 &&
                    groups[0] == type.shape[0] && type.shape[1] % groups[1] == 0 &&
                    norm->attributes.integer("groups", 1) == groups[1];
  if (!fits) return kNone;
  return rewrite.add("group_norm", {x},
                     {{"groups", groups[1]},
                      {"axis", int64_t{1}},
                      {"epsilon", norm->attributes.number("epsilon", 1e-5)}});
}

// The constant as one number per channel of a result of `shape`; kNone if it is not one.
Result<ValueId> by_channel(Rewrite& rewrite, ValueId value, const Extents& shape) {
  if (rewrite.constant(value).empty()) return kNone;
  Extents own = rewrite.shape(value);
  if (own.size() > shape.size()) return kNone;
  own.insert(own.begin(), shape.size() - own.size(), 1);
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] != (i == 1 ? shape[1] : 1)) return kNone;
  }
  return rewrite.reshape(value, {shape[1]});
}

// group_norm(x) * w, + b
Result<ValueId> absorb_parameter(Rewrite& rewrite, const Node& node,
                                 const std::vector<ValueId>& in) {
  const bool scale = node.op == "mul";
  if ((!scale && node.op != "add") || in.size() != 2) return kNone;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const Node* found = rewrite.made_by(in[i], "group_norm");
    if (found == nullptr || !rewrite.read_once(in[i])) continue;
    const Node norm = *found;
    const Extents& shape = rewrite.shape(in[i]);
    if (axis_of(norm, shape.size(), 1) != 1) continue;
    if (operand(norm, 2) != kNone || (scale && operand(norm, 1) != kNone)) continue;
    const auto parameter = TRY(by_channel(rewrite, in[1 - i], shape));
    if (parameter == kNone) continue;
    std::vector<ValueId> inputs{norm.inputs[0], operand(norm, 1)};
    if (scale) inputs[1] = parameter;
    if (!scale) inputs.push_back(parameter);
    return rewrite.add("group_norm", inputs, norm.attributes);
  }
  return kNone;
}

}  // namespace

Result<Graph> recognize_group_norm(const Graph& graph, const PassOptions& options) {
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    if (!options.permissions.reassociate || node.outputs.size() != 1) return false;
    const TensorType& type = graph.value(node.outputs[0]).type;
    const std::vector<ValueId> in = rewrite.operands(node);
    ValueId now = TRY(match_groups(rewrite, node, in, type));
    if (now == kNone) now = TRY(absorb_parameter(rewrite, node, in));
    if (now == kNone || rewrite.type(now) != type) return false;
    rewrite.replace(node.outputs[0], now);
    return true;
  });
}

}  // namespace tilewright::graph
