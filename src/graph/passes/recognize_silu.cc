#include "graph/passes/recognize_silu.h"

#include <string>
#include <vector>

#include "graph/passes/product.h"
#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

struct Found {
  std::string op;
  ValueId x = kNone;
};

// exp(u) in 1 + exp(u); kNone
ValueId exponent_of_one_plus_exp(const Rewrite& rewrite, ValueId value) {
  const OnePlus sum = one_plus(rewrite, value);
  if (sum.what == kNone || sum.factor != 1) return kNone;
  const Node* exp = rewrite.made_by(sum.what, "exp");
  return exp == nullptr ? kNone : exp->inputs[0];
}

Found match_sigmoid(const Rewrite& rewrite, ValueId denominator) {
  const ValueId u = exponent_of_one_plus_exp(rewrite, denominator);
  const Node* neg = rewrite.made_by(u, "neg");
  if (neg == nullptr) return {};
  return {.op = "sigmoid", .x = neg->inputs[0]};
}

// x * clip(x + 3, 0, 6) / 6
Found match_hard_swish(const Rewrite& rewrite, double factor, const std::vector<ValueId>& sides) {
  for (const ValueId side : sides) {
    for (const ValueId term : product_of(rewrite, side).terms) {
      const Node* clip = rewrite.made_by(term, "clip");
      if (clip == nullptr || clip->inputs.size() != 3) continue;
      if (rewrite.scalar(clip->inputs[1]) != 0.0 || rewrite.scalar(clip->inputs[2]) != 6.0)
        continue;
      const Node* sum = rewrite.made_by(clip->inputs[0], "add");
      if (sum == nullptr || sum->inputs.size() != 2) continue;
      const size_t number = rewrite.scalar(sum->inputs[0]) ? 0 : 1;
      if (rewrite.scalar(sum->inputs[number]) != 3.0) continue;
      const ValueId x = sum->inputs[1 - number];
      double scale = factor;
      std::vector<ValueId> terms;
      for (const ValueId part : sides) {
        const Product product = product_of(rewrite, part, x);
        scale *= product.factor;
        terms.insert(terms.end(), product.terms.begin(), product.terms.end());
      }
      const Product whole{.factor = scale, .terms = {std::min(x, term), std::max(x, term)}};
      if (!whole.is(terms) || !close_to(scale, 1.0 / 6, rewrite.type(x).element)) continue;
      return {.op = "hard_swish", .x = x};
    }
  }
  return {};
}

// x * gate(x)
Found match_gate(const Rewrite& rewrite, ValueId x, ValueId gate) {
  const Node* node = rewrite.made_by(gate);
  if (node == nullptr) return {};
  if (node->op == "sigmoid" && node->inputs[0] == x) return {.op = "silu", .x = x};
  if (node->op == "hard_sigmoid" && node->inputs[0] == x &&
      close_to(node->attributes.number("alpha", 0.2), 1.0 / 6, ir::Scalar::F32) &&
      node->attributes.number("beta", 0.5) == 0.5) {
    return {.op = "hard_swish", .x = x};
  }
  if (node->op == "tanh") {
    const Node* inner = rewrite.made_by(node->inputs[0], "softplus");
    if (inner != nullptr && inner->inputs[0] == x) return {.op = "mish", .x = x};
  }
  return {};
}

Found match(const Rewrite& rewrite, const Node& node, const std::vector<ValueId>& in,
            bool reassociate) {
  if (node.op == "reciprocal") return match_sigmoid(rewrite, in[0]);
  if (node.op == "log") {
    const ValueId u = exponent_of_one_plus_exp(rewrite, in[0]);
    if (u != kNone) return {.op = "softplus", .x = u};
  }
  if (node.op == "div") {
    if (rewrite.scalar(in[0]) == 1.0) return match_sigmoid(rewrite, in[1]);
    const double divisor = rewrite.scalar(in[1]).value_or(0);
    if (divisor != 0 && reassociate) return match_hard_swish(rewrite, 1 / divisor, {in[0]});
  }
  if (node.op != "mul" || in.size() != 2) return {};
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (Found found = match_gate(rewrite, in[i], in[1 - i]); found.x != kNone) return found;
  }
  return reassociate ? match_hard_swish(rewrite, 1, in) : Found{};
}

}  // namespace

Result<Graph> recognize_silu(const Graph& graph, const PassOptions& options) {
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    const TensorType& type = graph.value(node.outputs[0]).type;
    if (!ir::is_float(type.element)) return false;
    const Found found =
        match(rewrite, node, rewrite.operands(node), options.permissions.reassociate);
    if (found.x == kNone || rewrite.type(found.x).elements() != type.elements()) return false;
    const auto now = TRY(rewrite.add(found.op, {found.x}));
    TRY(rewrite.replace_as(node.outputs[0], now));
    return true;
  });
}

}  // namespace tilewright::graph
