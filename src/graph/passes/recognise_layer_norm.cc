#include "graph/passes/recognise_layer_norm.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

// mean(of) over the last dimensions, which are kept: the first of them.
std::optional<int64_t> mean_axis(const Rewrite& rewrite, ValueId value, ValueId of) {
  const Node* node = rewrite.made_by(value, "reduce");
  if (node == nullptr || node->inputs[0] != of || node->attributes.text("kind", "sum") != "mean" ||
      node->attributes.integer("keep", 0) == 0) {
    return std::nullopt;
  }
  const auto rank = static_cast<int64_t>(rewrite.shape(of).size());
  const std::vector<int64_t> axes = axes_of(*node, rewrite.shape(of).size());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != rank - static_cast<int64_t>(axes.size() - i)) return std::nullopt;
  }
  if (axes.empty()) return std::nullopt;
  return axes[0];
}

struct Deviation {
  ValueId of = kNone;  // mean(of * of) + epsilon
  int64_t axis = 0;
  double epsilon = 0;
};

Deviation match_deviation(const Rewrite& rewrite, ValueId value) {
  const Node* sum = rewrite.made_by(value, "add");
  if (sum == nullptr) return {};
  const auto parts = with_constant(rewrite, *sum);
  if (!parts || !rewrite.scalar(parts->constant)) return {};
  const Node* mean = rewrite.made_by(parts->value, "reduce");
  if (mean == nullptr) return {};
  const ValueId square = mean->inputs[0];
  const Node* power = rewrite.made_by(square);
  if (power == nullptr) return {};
  const bool squared =
      (power->op == "mul" && power->inputs.size() == 2 && power->inputs[0] == power->inputs[1]) ||
      (power->op == "pow" && rewrite.scalar(power->inputs[1]) == 2.0);
  const auto axis = mean_axis(rewrite, parts->value, square);
  if (!squared || !axis) return {};
  return {.of = power->inputs[0], .axis = *axis, .epsilon = *rewrite.scalar(parts->constant)};
}

// The value under the root in 1 / sqrt(value), rsqrt(value), pow(value, -0.5).
ValueId under_inverse_root(const Rewrite& rewrite, ValueId value) {
  const Node* node = rewrite.made_by(value);
  if (node == nullptr) return kNone;
  if (node->op == "rsqrt") return node->inputs[0];
  if (node->op == "pow" && rewrite.scalar(node->inputs[1]) == -0.5) return node->inputs[0];
  const bool inverse =
      node->op == "reciprocal" || (node->op == "div" && rewrite.scalar(node->inputs[0]) == 1.0);
  if (!inverse) return kNone;
  const Node* root = rewrite.made_by(node->inputs[node->op == "div" ? 1 : 0], "sqrt");
  return root == nullptr ? kNone : root->inputs[0];
}

struct Norm {
  std::string op;
  ValueId x = kNone;
  int64_t axis = 0;
  double epsilon = 0;
};

Norm match_norm(const Rewrite& rewrite, ValueId centred, ValueId under_root) {
  const Deviation deviation = match_deviation(rewrite, under_root);
  if (deviation.of == kNone || deviation.of != centred) return {};
  Norm norm{.op = "rms_norm", .x = centred, .axis = deviation.axis, .epsilon = deviation.epsilon};
  const Node* sub = rewrite.made_by(centred, "sub");
  if (sub != nullptr && mean_axis(rewrite, sub->inputs[1], sub->inputs[0]) == norm.axis) {
    norm.op = "layer_norm";
    norm.x = sub->inputs[0];
  }
  return norm;
}

Norm match_core(const Rewrite& rewrite, const Node& node, const std::vector<ValueId>& in) {
  if (node.op == "div") {
    const Node* root = rewrite.made_by(in[1], "sqrt");
    return root == nullptr ? Norm{} : match_norm(rewrite, in[0], root->inputs[0]);
  }
  if (node.op != "mul" || in.size() != 2) return {};
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const ValueId under = under_inverse_root(rewrite, in[i]);
    if (under == kNone) continue;
    if (Norm norm = match_norm(rewrite, in[1 - i], under); norm.x != kNone) return norm;
  }
  return {};
}

bool is_norm(const Node* node) {
  return node != nullptr && (node->op == "layer_norm" || node->op == "rms_norm");
}

ValueId operand(const Node& node, size_t i) {
  return i < node.inputs.size() ? node.inputs[i] : kNone;
}

// The constant with the shape of the normalised dimensions; kNone where it has another.
Result<ValueId> as_parameter(Rewrite& rewrite, ValueId value, const std::vector<int64_t>& wanted) {
  if (rewrite.constant(value).empty()) return kNone;
  std::vector<int64_t> shape = rewrite.shape(value);
  while (shape.size() > wanted.size() && shape.front() == 1) shape.erase(shape.begin());
  if (shape != wanted) return kNone;
  return rewrite.reshape(value, wanted);
}

// norm(x) * w, norm(x) + b
Result<ValueId> absorb_parameter(Rewrite& rewrite, const Node& node,
                                 const std::vector<ValueId>& in) {
  const bool scale = node.op == "mul";
  if ((!scale && node.op != "add") || in.size() != 2) return kNone;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const Node* found = rewrite.made_by(in[i]);
    if (!is_norm(found) || !rewrite.read_once(in[i])) continue;
    const Node norm = *found;
    if (scale && (operand(norm, 1) != kNone || operand(norm, 2) != kNone)) continue;
    if (!scale && (norm.op != "layer_norm" || operand(norm, 2) != kNone)) continue;
    const std::vector<int64_t>& shape = rewrite.shape(norm.inputs[0]);
    const auto first = shape.begin() + axis_of(norm, shape.size());
    const auto parameter = as_parameter(rewrite, in[1 - i], {first, shape.end()});
    if (!parameter) return parameter;
    if (*parameter == kNone || rewrite.type(*parameter).element != rewrite.type(in[i]).element) {
      continue;
    }
    std::vector<ValueId> inputs{norm.inputs[0], operand(norm, 1)};
    if (scale) inputs[1] = *parameter;
    if (!scale) inputs.push_back(*parameter);
    return rewrite.add(norm.op, inputs, norm.attributes);
  }
  return kNone;
}

// cast(norm(cast(x, wider)), its type)
Result<ValueId> absorb_casts(Rewrite& rewrite, const Node& node, const std::vector<ValueId>& in,
                             const TensorType& type) {
  if (node.op != "cast" || !rewrite.read_once(in[0])) return kNone;
  const Node* found = rewrite.made_by(in[0]);
  if (!is_norm(found) || found->inputs.size() != 1) return kNone;
  const Node norm = *found;
  const Node* before = rewrite.made_by(norm.inputs[0], "cast");
  if (before == nullptr || rewrite.type(norm.inputs[0]).element != ir::Scalar::F32) return kNone;
  const ValueId x = before->inputs[0];
  if (rewrite.type(x) != type || ir::arithmetic_type(type.element) != ir::Scalar::F32) return kNone;
  return rewrite.add(norm.op, {x}, norm.attributes);
}

}  // namespace

Result<Graph> recognise_layer_norm(const Graph& graph, const PassOptions& options) {
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    if (!options.licences.reassociate || node.outputs.size() != 1) return false;
    const TensorType& type = graph.value(node.outputs[0]).type;
    if (!ir::is_float(type.element)) return false;
    const std::vector<ValueId> in = rewrite.operands(node);
    Result<ValueId> now = kNone;
    if (const Norm norm = match_core(rewrite, node, in); norm.x != kNone) {
      now = rewrite.add(norm.op, {norm.x}, {{"axis", norm.axis}, {"epsilon", norm.epsilon}});
    } else {
      now = absorb_parameter(rewrite, node, in);
      if (now && *now == kNone) now = absorb_casts(rewrite, node, in, type);
    }
    if (!now) return std::unexpected(now.error());
    if (*now == kNone || rewrite.type(*now) != type) return false;
    rewrite.replace(node.outputs[0], *now);
    return true;
  });
}

}  // namespace tilewright::graph
