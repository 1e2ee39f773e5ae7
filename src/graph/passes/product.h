// A value as a product: a number times other values. Patterns of activations are matched in this
// form, so the order of factors does not matter.
//
//   mul(div(x, 1.4142135), mul(0.5, pow(x, 2)))   ->   0.35355 * x * x * x
#pragma once

#include <vector>

#include "graph/passes/rewrite.h"

namespace tilewright::graph {

struct Product {
  double factor = 1;
  std::vector<ValueId> terms;  // ascending

  bool is(std::vector<ValueId> values) const;  // its terms are these, in any order
};

// `stop` is not decomposed.
Product product_of(const Rewrite& rewrite, ValueId value, ValueId stop = kNone);

// Equal up to rounding of the number to f32 or f16.
bool close_to(double number, double wanted, ir::Scalar element);

// `what` of value = factor * (1 + what); kNone if the value does not have this form.
struct OnePlus {
  double factor = 1;
  ValueId what = kNone;
};
OnePlus one_plus(const Rewrite& rewrite, ValueId value);

}  // namespace tilewright::graph
