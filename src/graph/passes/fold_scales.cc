#include "graph/passes/fold_scales.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "graph/passes/constant_math.h"
#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

constexpr int kDeepest = 12;

// Scaling the operand scales the result.
bool passes_on(const Node& node) {
  constexpr std::array<std::string_view, 5> kOps = {"transpose", "reshape", "broadcast", "slice",
                                                    "neg"};
  return std::ranges::count(kOps, node.op) > 0;
}

// Scaling either operand scales the result.
bool is_product(const Node& node) {
  constexpr std::array<std::string_view, 4> kOps = {"mul", "contract", "conv", "conv_transpose"};
  return std::ranges::count(kOps, node.op) > 0 && node.inputs.size() == 2;
}

bool is_sum(const Node& node) { return node.op == "add" || node.op == "sub"; }

bool is_constant(const Rewrite& rewrite, ValueId value) { return !rewrite.constant(value).empty(); }

bool can_scale(const Rewrite& rewrite, ValueId value, int depth) {
  if (!ir::is_float(rewrite.type(value).element)) return false;
  if (is_constant(rewrite, value)) return true;
  const Node* node = rewrite.made_by(value);
  if (node == nullptr || depth == kDeepest || !rewrite.read_once(value)) return false;
  const auto can = [&](ValueId input) { return can_scale(rewrite, input, depth + 1); };
  if (passes_on(*node)) return can(node->inputs[0]);
  if (is_product(*node)) {
    return node->inputs[0] != node->inputs[1] && std::ranges::any_of(node->inputs, can);
  }
  return is_sum(*node) && std::ranges::all_of(node->inputs, can);
}

// The value times the factor. Requires can_scale.
Result<ValueId> scale(Rewrite& rewrite, ValueId value, double factor, int depth) {
  if (is_constant(rewrite, value)) {
    return rewrite.add_constant(scaled(rewrite.constant(value), factor));
  }
  const Node node = *rewrite.made_by(value);
  std::vector<ValueId> inputs = node.inputs;
  std::vector<size_t> which;
  if (passes_on(node)) which = {0};
  if (is_sum(node)) {
    for (size_t i = 0; i < inputs.size(); ++i) which.push_back(i);
  }
  if (is_product(node)) {
    // A constant if there is one, the second operand first: weights.
    for (const size_t i : {size_t{0}, size_t{1}}) {
      if (is_constant(rewrite, inputs[i])) which = {i};
    }
    for (const size_t i : {size_t{0}, size_t{1}}) {
      if (which.empty() && can_scale(rewrite, inputs[i], depth + 1)) which = {i};
    }
  }
  for (const size_t i : which) {
    const auto now = TRY(scale(rewrite, inputs[i], factor, depth + 1));
    inputs[i] = now;
  }
  return rewrite.add(node.op, inputs, node.attributes);
}

}  // namespace

Result<Graph> fold_scales(const Graph& graph, const PassOptions& options) {
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    if (!options.permissions.fold || !options.permissions.reassociate) return false;
    if (node.op != "mul" || node.inputs.size() != 2) return false;
    const std::vector<ValueId> in = rewrite.operands(node);
    const size_t number = rewrite.scalar(in[0]) ? 0 : 1;
    const auto factor = rewrite.scalar(in[number]);
    const ValueId value = in[1 - number];
    if (!factor || !std::isfinite(*factor) || is_constant(rewrite, value) ||
        !can_scale(rewrite, value, 0))
      return false;
    const auto now = TRY(scale(rewrite, value, *factor, 0));
    TRY(rewrite.replace_as(node.outputs[0], now));
    return true;
  });
}

}  // namespace tilewright::graph
