#include "graph/passes/fold_batch_norm.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "graph/passes/constant_math.h"
#include "graph/passes/rewrite.h"
#include "graph/passes/weights.h"

namespace tilewright::graph {
namespace {

struct Affine {
  Constant factor;
  Constant summand;  // empty: none
};

// x * factor + summand, both of shape [channels, 1, ...].
std::optional<Affine> affine_of(const Rewrite& rewrite, const Node& node,
                                const std::vector<ValueId>& in) {
  for (size_t i = 1; i < in.size(); ++i) {
    if (rewrite.constant(in[i]).empty()) return std::nullopt;
  }
  const TensorType& type = rewrite.type(in[0]);
  const auto axis = static_cast<size_t>(axis_of(node, type.shape.size(), 1));
  const double epsilon = node.attributes.number("epsilon", 1e-5);
  const std::vector<double> scale = numbers_of(rewrite.constant(in[1]));
  const std::vector<double> bias = numbers_of(rewrite.constant(in[2]));
  const std::vector<double> mean = numbers_of(rewrite.constant(in[3]));
  const std::vector<double> variance = numbers_of(rewrite.constant(in[4]));
  std::vector<double> factor(scale.size());
  std::vector<double> summand(scale.size());
  for (size_t i = 0; i < scale.size(); ++i) {
    factor[i] = scale[i] / std::sqrt(variance[i] + epsilon);
    summand[i] = bias[i] - mean[i] * factor[i];
    if (!std::isfinite(factor[i]) || !std::isfinite(summand[i])) return std::nullopt;
  }
  TensorType small{.element = type.element,
                   .shape = std::vector<int64_t>(type.shape.size() - axis, 1)};
  small.shape[0] = type.shape[axis];
  return Affine{.factor = of_numbers(small, factor), .summand = of_numbers(small, summand)};
}

// heavy(x, w) + bias, where both have no other readers.
struct Biased {
  ValueId heavy = kNone;
  Constant bias;  // empty: none
};

Biased match_biased(const Rewrite& rewrite, ValueId value) {
  if (!rewrite.read_once(value)) return {};
  const Node* add = rewrite.made_by(value, "add");
  if (add == nullptr) return {.heavy = value, .bias = {}};
  const auto parts = with_constant(rewrite, *add);
  if (!parts || !rewrite.read_once(parts->value)) return {};
  if (rewrite.type(parts->value) != rewrite.type(value)) return {};
  return {.heavy = parts->value, .bias = rewrite.constant(parts->constant)};
}

std::optional<Constant> new_bias(const Constant& bias, const Affine& affine) {
  if (bias.empty()) return affine.summand;
  if (bias.type().element != affine.factor.type().element) return std::nullopt;
  const Constant scaled_bias = combined(bias, affine.factor, Combine::Mul);
  Constant all =
      affine.summand.empty() ? scaled_bias : combined(scaled_bias, affine.summand, Combine::Add);
  const int64_t largest = std::max(bias.type().elements(), affine.factor.type().elements());
  if (all.type().elements() > largest) return std::nullopt;
  return all;
}

// (heavy(x, w) + b) * factor + summand as heavy(x, w') + b'; kNone if that is not possible.
Result<ValueId> fold(Rewrite& rewrite, ValueId value, const Affine& affine) {
  const Biased found = match_biased(rewrite, value);
  const Node* made = rewrite.made_by(found.heavy);
  if (made == nullptr) return kNone;
  const Node heavy = *made;
  const auto weight = constant_weight(rewrite, heavy);
  if (!weight) return kNone;
  const auto bias = new_bias(found.bias, affine);
  const auto weights =
      scaled_weights(rewrite, heavy, *weight, rewrite.shape(found.heavy), affine.factor);
  if (!bias || !weights) return kNone;
  std::vector<ValueId> inputs = heavy.inputs;
  inputs[*weight] = rewrite.add_constant(*weights);
  auto result = rewrite.add(heavy.op, inputs, heavy.attributes);
  if (!result || bias->empty()) return result;
  return rewrite.add("add", {*result, rewrite.add_constant(*bias)});
}

Result<ValueId> fold_norm(Rewrite& rewrite, const Node& node, const std::vector<ValueId>& in) {
  if (!ir::is_float(rewrite.type(in[0]).element)) return kNone;
  const auto affine = affine_of(rewrite, node, in);
  if (!affine) return kNone;
  auto folded = fold(rewrite, in[0], *affine);
  if (!folded || *folded != kNone) return folded;
  const auto product = TRY(rewrite.add("mul", {in[0], rewrite.add_constant(affine->factor)}));
  return rewrite.add("add", {product, rewrite.add_constant(affine->summand)});
}

Result<ValueId> fold_factor(Rewrite& rewrite, const std::vector<ValueId>& in) {
  if (in.size() != 2) return kNone;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const Constant factor = rewrite.constant(in[i]);
    if (factor.empty() || !ir::is_float(factor.type().element) || !all_finite(factor)) continue;
    return fold(rewrite, in[1 - i], {.factor = factor, .summand = {}});
  }
  return kNone;
}

}  // namespace

Result<Graph> fold_batch_norm(const Graph& graph, const PassOptions& options) {
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    if (!options.permissions.fold) return false;
    const std::vector<ValueId> in = rewrite.operands(node);
    ValueId now = kNone;
    if (node.op == "batch_norm") now = TRY(fold_norm(rewrite, node, in));
    if (node.op == "mul") now = TRY(fold_factor(rewrite, in));
    if (now == kNone) return false;
    TRY(rewrite.replace_as(node.outputs[0], now));
    return true;
  });
}

}  // namespace tilewright::graph
