#include "graph/passes/invert_scatters.h"

#include <algorithm>

#include "base/saturating.h"
#include "graph/passes/rewrite.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;

constexpr int64_t kMaxElements = int64_t{1} << 26;  // of the inverse index

// For each index of the scattered dimensions, the number of its last update, or -1.
struct Inverse {
  Shape named;
  int64_t updates = 0;
  std::vector<int64_t> which;
};

// `number` counted from the front; nothing if it is out of range.
std::optional<int64_t> resolved(int64_t number, int64_t extent) {
  const int64_t index = number < 0 ? number + extent : number;
  return index >= 0 && index < extent ? std::optional(index) : std::nullopt;
}

Inverse inverse_nd(const Shape& x, const Constant& indices) {
  const Shape& shape = indices.type().shape;
  const int64_t depth = shape.back();
  Inverse inverse;
  inverse.named = {x.begin(), x.begin() + depth};
  inverse.updates = indices.type().elements() / depth;
  inverse.which.assign(static_cast<size_t>(saturating_product(inverse.named)), -1);
  for (int64_t update = 0; update < inverse.updates; ++update) {
    int64_t place = 0;
    bool inside = true;
    for (int64_t d = 0; d < depth; ++d) {
      const int64_t extent = x[static_cast<size_t>(d)];
      const auto index = resolved(indices.integer(update * depth + d), extent);
      inside = inside && index.has_value();
      place = place * extent + index.value_or(0);
    }
    if (inside) inverse.which[static_cast<size_t>(place)] = update;
  }
  return inverse;
}

Inverse inverse_elements(const Shape& x, const Constant& indices, size_t axis) {
  const Shape& shape = indices.type().shape;
  Inverse inverse;
  inverse.named = x;
  inverse.updates = indices.type().elements();
  inverse.which.assign(static_cast<size_t>(saturating_product(x)), -1);
  Shape at(shape.size());
  for (int64_t update = 0; update < inverse.updates; ++update) {
    const auto index = resolved(indices.integer(update), x[axis]);
    int64_t place = 0;
    for (size_t d = 0; d < x.size(); ++d) {
      place = place * x[d] + (d == axis ? index.value_or(0) : at[d]);
    }
    if (index) inverse.which[static_cast<size_t>(place)] = update;
    for (size_t d = at.size(); d > 0 && ++at[d - 1] == shape[d - 1]; --d) at[d - 1] = 0;
  }
  return inverse;
}

bool is_identity(const Inverse& inverse) {
  if (static_cast<int64_t>(inverse.which.size()) != inverse.updates) return false;
  for (size_t k = 0; k < inverse.which.size(); ++k) {
    if (inverse.which[k] != static_cast<int64_t>(k)) return false;
  }
  return true;
}

// The updates as [number, rest..], picked by `which`.
Result<ValueId> picked(Rewrite& rewrite, ValueId updates, const Inverse& inverse,
                       const Shape& rest) {
  Shape lines = {inverse.updates};
  lines.insert(lines.end(), rest.begin(), rest.end());
  const auto line = TRY(rewrite.reshape(updates, lines));
  std::vector<int64_t> numbers = inverse.which;
  for (int64_t& number : numbers) number = std::max<int64_t>(number, 0);
  const ValueId which = rewrite.add_constant(Constant::of_integers(inverse.named, numbers));
  return rewrite.add("gather", {line, which}, {{"axis", int64_t{0}}});
}

Result<bool> invert(Rewrite& rewrite, const Node& old) {
  const bool nd = old.op == "scatter_nd";
  if (!nd && old.op != "scatter_elements") return false;
  const std::vector<ValueId> in = rewrite.operands(old);
  const Constant indices = rewrite.constant(in[1]);
  const Shape x = rewrite.shape(in[0]);
  if (indices.empty() || old.attributes.text("reduction", "none") != "none" ||
      saturating_product(x) > kMaxElements || indices.type().elements() > kMaxElements) {
    return false;
  }
  const Inverse inverse =
      nd ? inverse_nd(x, indices)
         : inverse_elements(x, indices, static_cast<size_t>(axis_of(old, x.size(), 0)));
  const Shape rest(x.begin() + static_cast<int64_t>(inverse.named.size()), x.end());
  const auto chosen =
      TRY(is_identity(inverse) ? rewrite.reshape(in[2], x) : picked(rewrite, in[2], inverse, rest));
  ValueId result = chosen;
  if (std::ranges::find(inverse.which, -1) != inverse.which.end()) {
    std::vector<int64_t> hit = inverse.which;
    for (int64_t& one : hit) one = one >= 0 ? 1 : 0;
    Shape wide = inverse.named;
    wide.insert(wide.end(), rest.size(), 1);
    const ValueId mask = rewrite.add_constant(Constant::of_integers(wide, hit, ir::Scalar::Bool));
    const auto made = TRY(rewrite.add("where", {mask, result, in[0]}));
    result = made;
  }
  rewrite.replace(old.outputs[0], result);
  return true;
}

}  // namespace

Result<Graph> invert_scatters(const Graph& graph, const PassOptions&) {
  return rewrite_nodes(graph, invert);
}

}  // namespace tilewright::graph
