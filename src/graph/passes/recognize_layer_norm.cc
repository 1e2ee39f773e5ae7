#include "graph/passes/recognize_layer_norm.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

using Extents = std::vector<int64_t>;

// The dimensions of mean(of) that keeps them; nothing if it is not such a mean.
Extents mean_axes(const Rewrite& rewrite, ValueId value, ValueId of) {
  const Node* node = rewrite.made_by(value, "reduce");
  if (node == nullptr || node->inputs[0] != of || node->attributes.text("kind", "sum") != "mean" ||
      node->attributes.integer("keep", 0) == 0) {
    return {};
  }
  return axes_of(*node, rewrite.shape(of).size());
}

bool are_last(const Extents& axes, size_t rank) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(rank - axes.size() + i)) return false;
  }
  return true;
}

struct Deviation {
  ValueId of = kNone;  // mean(of * of) + epsilon
  Extents axes;
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
  const Extents axes = mean_axes(rewrite, parts->value, square);
  if (!squared || axes.empty()) return {};
  return {.of = power->inputs[0], .axes = axes, .epsilon = *rewrite.scalar(parts->constant)};
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
  Extents axes;
  double epsilon = 0;
};

Norm match_norm(const Rewrite& rewrite, ValueId centered, ValueId under_root) {
  const Deviation deviation = match_deviation(rewrite, under_root);
  if (deviation.of == kNone || deviation.of != centered) return {};
  Norm norm{.op = "rms_norm", .x = centered, .axes = deviation.axes, .epsilon = deviation.epsilon};
  const Node* sub = rewrite.made_by(centered, "sub");
  if (sub != nullptr && mean_axes(rewrite, sub->inputs[1], sub->inputs[0]) == norm.axes) {
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

// Adds the norm, between transposes if it is over another dimension than the last.
Result<ValueId> add_norm(Rewrite& rewrite, const Norm& norm, bool may_transpose) {
  const size_t rank = rewrite.shape(norm.x).size();
  if (are_last(norm.axes, rank)) {
    return rewrite.add(norm.op, {norm.x}, {{"axis", norm.axes[0]}, {"epsilon", norm.epsilon}});
  }
  if (!may_transpose || norm.axes.size() != 1) return kNone;
  Extents perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  const auto axis = perm.begin() + norm.axes[0];
  std::rotate(axis, axis + 1, perm.end());
  Extents back(rank);
  for (size_t i = 0; i < rank; ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  const auto moved = TRY(rewrite.add("transpose", {norm.x}, {{"perm", perm}}));
  const auto normed = TRY(rewrite.add(
      norm.op, {moved}, {{"axis", static_cast<int64_t>(rank) - 1}, {"epsilon", norm.epsilon}}));
  return rewrite.add("transpose", {normed}, {{"perm", back}});
}

// A norm with a single reader, and the transpose after it.
struct FoundNorm {
  Node norm;
  ValueId value = kNone;
  Extents back;  // empty: none
};

std::optional<FoundNorm> find_norm(const Rewrite& rewrite, ValueId value) {
  const Node* node = rewrite.made_by(value);
  if (node == nullptr || !rewrite.read_once(value)) return std::nullopt;
  Extents back;
  if (node->op == "transpose") {
    back = node->attributes.list("perm");
    value = node->inputs[0];
    node = rewrite.made_by(value);
    if (node == nullptr || !rewrite.read_once(value)) return std::nullopt;
  }
  if (node->op != "layer_norm" && node->op != "rms_norm") return std::nullopt;
  return FoundNorm{.norm = *node, .value = value, .back = std::move(back)};
}

// The constant that the norm is multiplied by or added to, as its parameter; kNone if it is none.
Result<ValueId> as_parameter(Rewrite& rewrite, ValueId value, const FoundNorm& found) {
  if (rewrite.constant(value).empty()) return kNone;
  const Extents& shape = rewrite.shape(found.value);
  Extents own = rewrite.shape(value);
  if (own.size() > shape.size()) return kNone;
  own.insert(own.begin(), shape.size() - own.size(), 1);
  if (!found.back.empty()) {  // the dimensions of the norm's result
    const Extents behind = own;
    for (size_t i = 0; i < own.size(); ++i) own[static_cast<size_t>(found.back[i])] = behind[i];
    const auto varying = std::ranges::count_if(own, [](int64_t extent) { return extent != 1; });
    if (varying > 1) return kNone;
  }
  const auto first = static_cast<size_t>(axis_of(found.norm, shape.size()));
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] != (i < first ? 1 : shape[i])) return kNone;
  }
  return rewrite.reshape(value, {shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end()});
}

// norm(x) * w, norm(x) + b
Result<ValueId> absorb_parameter(Rewrite& rewrite, const Node& node,
                                 const std::vector<ValueId>& in) {
  const bool scale = node.op == "mul";
  if ((!scale && node.op != "add") || in.size() != 2) return kNone;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const auto found = find_norm(rewrite, in[i]);
    if (!found) continue;
    const Node& norm = found->norm;
    if (scale && (operand(norm, 1) != kNone || operand(norm, 2) != kNone)) continue;
    if (!scale && (norm.op != "layer_norm" || operand(norm, 2) != kNone)) continue;
    const auto parameter = TRY(as_parameter(rewrite, in[1 - i], *found));
    if (parameter == kNone || rewrite.type(parameter).element != rewrite.type(in[i]).element) {
      continue;
    }
    std::vector<ValueId> inputs{norm.inputs[0], operand(norm, 1)};
    if (scale) inputs[1] = parameter;
    if (!scale) inputs.push_back(parameter);
    auto now = rewrite.add(norm.op, inputs, norm.attributes);
    if (!now || found->back.empty()) return now;
    return rewrite.add("transpose", {*now}, {{"perm", found->back}});
  }
  return kNone;
}

// cast(norm(cast(x, wider)), its type)
Result<ValueId> absorb_casts(Rewrite& rewrite, const Node& node, const std::vector<ValueId>& in,
                             const TensorType& type) {
  if (node.op != "cast" || !rewrite.read_once(in[0])) return kNone;
  const auto found = find_norm(rewrite, in[0]);
  if (!found || !found->back.empty() || found->norm.inputs.size() != 1) return kNone;
  const Node& norm = found->norm;
  const Node* before = rewrite.made_by(norm.inputs[0], "cast");
  if (before == nullptr || rewrite.type(norm.inputs[0]).element != ir::Scalar::F32) return kNone;
  const ValueId x = before->inputs[0];
  if (rewrite.type(x) != type || ir::arithmetic_type(type.element) != ir::Scalar::F32) return kNone;
  return rewrite.add(norm.op, {x}, norm.attributes);
}

}  // namespace

Result<Graph> recognize_layer_norm(const Graph& graph, const PassOptions& options) {
  // With channels last, their transposes cancel.
  const bool windows =
      std::ranges::count(options.off, "channels_last") == 0 &&
      std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.op == "conv"; });
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    if (!options.permissions.reassociate || node.outputs.size() != 1) return false;
    const TensorType& type = graph.value(node.outputs[0]).type;
    if (!ir::is_float(type.element)) return false;
    const std::vector<ValueId> in = rewrite.operands(node);
    ValueId now = kNone;
    if (const Norm norm = match_core(rewrite, node, in); norm.x != kNone) {
      now = TRY(add_norm(rewrite, norm, windows));
    } else {
      now = TRY(absorb_parameter(rewrite, node, in));
      if (now == kNone) now = TRY(absorb_casts(rewrite, node, in, type));
    }
    if (now == kNone || rewrite.type(now) != type) return false;
    rewrite.replace(node.outputs[0], now);
    return true;
  });
}

}  // namespace tilewright::graph
