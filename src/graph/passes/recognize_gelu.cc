#include "graph/passes/recognize_gelu.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "graph/passes/product.h"
#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

constexpr double kCubic = 0.044715;

struct Gelu {
  ValueId x = kNone;
  std::string approximate;
};

// The x of u = x / sqrt 2. Scalar factors are removed one by one, since x may be scaled itself.
ValueId argument_of_erf(const Rewrite& rewrite, ValueId u) {
  for (ValueId x = u; x != kNone;) {
    const Product product = product_of(rewrite, u, x);
    if (product.is({x}) &&
        close_to(product.factor, 1 / std::numbers::sqrt2, rewrite.type(u).element)) {
      return x;
    }
    const Node* node = rewrite.made_by(x);
    if (node == nullptr || (node->op != "mul" && node->op != "div")) return kNone;
    const bool second = node->op == "mul" && rewrite.scalar(node->inputs[0]).has_value();
    x = node->inputs[second ? 1 : 0];
  }
  return kNone;
}

// u = c * (x + 0.044715 x^3) or c * x * (1 + 0.044715 x^2).
ValueId argument_of_tanh(const Rewrite& rewrite, ValueId u) {
  const ir::Scalar element = rewrite.type(u).element;
  const Product outer = product_of(rewrite, u);
  if (!close_to(outer.factor, std::sqrt(2 / std::numbers::pi), element)) return kNone;
  for (const ValueId term : outer.terms) {
    const Node* sum = rewrite.made_by(term, "add");
    if (sum == nullptr || sum->inputs.size() != 2) continue;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const ValueId x = sum->inputs[i];
      const ValueId rest = sum->inputs[1 - i];
      if (outer.terms.size() == 1) {
        const Product cube = product_of(rewrite, rest, x);
        if (cube.is({x, x, x}) && close_to(cube.factor, kCubic, element)) return x;
      } else if (outer.terms.size() == 2 && rewrite.scalar(x) == 1.0) {
        const ValueId other = outer.terms[outer.terms[0] == term ? 1 : 0];
        const Product square = product_of(rewrite, rest, other);
        if (square.is({other, other}) && close_to(square.factor, kCubic, element)) return other;
      }
    }
  }
  return kNone;
}

// Whether the node is factor * a * b; b may be kNone.
Gelu match(const Rewrite& rewrite, double scale, const std::vector<ValueId>& sides) {
  for (const ValueId side : sides) {
    for (const ValueId term : product_of(rewrite, side).terms) {
      const OnePlus sum = one_plus(rewrite, term);
      if (sum.what == kNone) continue;
      const Node* inner = rewrite.made_by(sum.what);
      if (inner == nullptr || (inner->op != "erf" && inner->op != "tanh")) continue;
      const bool erf = inner->op == "erf";
      const ValueId x = erf ? argument_of_erf(rewrite, inner->inputs[0])
                            : argument_of_tanh(rewrite, inner->inputs[0]);
      if (x == kNone) continue;
      Product whole{.factor = scale * sum.factor, .terms = {}};
      for (const ValueId factor : sides) {
        const Product part = product_of(rewrite, factor, x);
        whole.factor *= part.factor;
        whole.terms.insert(whole.terms.end(), part.terms.begin(), part.terms.end());
      }
      std::ranges::sort(whole.terms);
      if (!whole.is({x, term}) || !close_to(whole.factor, 0.5, rewrite.type(x).element)) continue;
      return {.x = x, .approximate = erf ? "none" : "tanh"};
    }
  }
  return {};
}

}  // namespace

Result<Graph> recognize_gelu(const Graph& graph, const PassOptions& options) {
  return rewrite_nodes(graph, [&](Rewrite& rewrite, const Node& node) -> Result<bool> {
    if (!options.permissions.reassociate || (node.op != "mul" && node.op != "div")) return false;
    const std::vector<ValueId> in = rewrite.operands(node);
    const TensorType& type = graph.value(node.outputs[0]).type;
    if (in.size() != 2 || !ir::is_float(type.element)) return false;
    const bool divided = node.op == "div";
    if (divided && rewrite.scalar(in[1]).value_or(0) == 0) return false;
    const Gelu found =
        divided ? match(rewrite, 1 / *rewrite.scalar(in[1]), {in[0]}) : match(rewrite, 1, in);
    if (found.x == kNone || rewrite.type(found.x).elements() != type.elements()) return false;
    const auto now = TRY(rewrite.add("gelu", {found.x}, {{"approximate", found.approximate}}));
    TRY(rewrite.replace_as(node.outputs[0], now));
    return true;
  });
}

}  // namespace tilewright::graph
