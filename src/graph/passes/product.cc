#include "graph/passes/product.h"

#include <algorithm>
#include <cmath>

namespace tilewright::graph {
namespace {

constexpr int kDeepest = 8;

void collect(const Rewrite& rewrite, ValueId value, ValueId stop, int depth, Product& product) {
  if (const auto number = rewrite.scalar(value)) {
    product.factor *= *number;
    return;
  }
  const Node* node = value == stop || depth == kDeepest ? nullptr : rewrite.made_by(value);
  const auto inner = [&](size_t i) { collect(rewrite, node->inputs[i], stop, depth + 1, product); };
  if (node != nullptr && node->op == "mul") {
    for (size_t i = 0; i < node->inputs.size(); ++i) inner(i);
    return;
  }
  if (node != nullptr && node->op == "neg") {
    product.factor = -product.factor;
    return inner(0);
  }
  if (node != nullptr && (node->op == "div" || node->op == "pow")) {
    const auto number = rewrite.scalar(node->inputs[1]);
    if (node->op == "div" && number) {
      product.factor /= *number;
      return inner(0);
    }
    if (node->op == "pow" && (number == 2.0 || number == 3.0)) {
      for (int i = 0; i < static_cast<int>(*number); ++i) inner(0);
      return;
    }
  }
  product.terms.push_back(value);
}

}  // namespace

bool Product::is(std::vector<ValueId> values) const {
  std::ranges::sort(values);
  return values == terms;
}

Product product_of(const Rewrite& rewrite, ValueId value, ValueId stop) {
  Product product;
  collect(rewrite, value, stop, 0, product);
  std::ranges::sort(product.terms);
  return product;
}

bool close_to(double number, double wanted, ir::Scalar element) {
  const double tolerance = ir::bytes_of(element) < 4 ? 4e-3 : 2e-5;
  return std::abs(number - wanted) <= tolerance * std::abs(wanted);
}

OnePlus one_plus(const Rewrite& rewrite, ValueId value) {
  const Node* node = rewrite.made_by(value, "add");
  if (node == nullptr || node->inputs.size() != 2) return {};
  const size_t first = rewrite.scalar(node->inputs[0]) ? 0 : 1;
  const auto number = rewrite.scalar(node->inputs[first]);
  if (!number || *number == 0) return {};
  const Product rest = product_of(rewrite, node->inputs[1 - first]);
  if (rest.terms.size() != 1) return {};
  if (!close_to(rest.factor, *number, rewrite.type(value).element)) return {};
  return {.factor = *number, .what = rest.terms[0]};
}

}  // namespace tilewright::graph
