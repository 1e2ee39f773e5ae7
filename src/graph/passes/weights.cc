#include "graph/passes/weights.h"

#include <algorithm>
#include <string>
#include <vector>

#include "graph/passes/constant_math.h"

namespace tilewright::graph {
namespace {

using Extents = std::vector<int64_t>;

// The factor with the rank of the result, extents of 1 prepended; nothing if it has a higher rank.
std::optional<Constant> aligned(const Constant& factor, const Extents& result) {
  Extents shape = factor.type().shape;
  while (shape.size() > result.size() && shape.front() == 1) shape.erase(shape.begin());
  if (shape.size() > result.size()) return std::nullopt;
  shape.insert(shape.begin(), result.size() - shape.size(), 1);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && shape[i] != result[i]) return std::nullopt;
  }
  return factor.reshaped(shape);
}

// One number per index of the axis; nothing if it varies along other dimensions.
std::optional<std::vector<double>> along(const Constant& factor, const Extents& result,
                                         size_t axis) {
  const Extents& shape = factor.type().shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != axis && shape[i] != 1) return std::nullopt;
  }
  std::vector<double> numbers = numbers_of(factor);
  if (numbers.size() == 1) numbers.resize(static_cast<size_t>(result[axis]), numbers[0]);
  return numbers;
}

std::optional<Constant> scale_conv(const Node& node, const Constant& weights, const Extents& result,
                                   const Constant& factor) {
  const bool last = node.attributes.integer("channels_last", 0) != 0;
  const Extents& shape = weights.type().shape;
  const auto numbers = along(factor, result, last ? result.size() - 1 : 1);
  if (!numbers) return std::nullopt;
  if (node.op == "conv") return scaled(weights, last ? shape.size() - 1 : 0, *numbers);
  // Output channel g * co/groups + c of a transposed convolution is w[.., ci of group g, c, ..].
  const int64_t groups = node.attributes.integer("groups", 1);
  const size_t in = last ? shape.size() - 2 : 0;
  if (groups == 1) return scaled(weights, in + 1, *numbers);
  Extents split = shape;
  split[in] = groups;
  split.insert(split.begin() + static_cast<std::ptrdiff_t>(in) + 1, shape[in] / groups);
  Extents by(split.size(), 1);
  by[in] = groups;
  by[in + 2] = shape[in + 1];
  const Constant table = of_numbers({.element = weights.type().element, .shape = by}, *numbers);
  return combined(weights.reshaped(split), table, Combine::Mul).reshaped(shape);
}

std::optional<Constant> scale_contract(const Node& node, size_t weight, const Constant& weights,
                                       const Constant& factor) {
  const std::string letters = node.attributes.text(weight == 0 ? "a" : "b");
  const std::string& out = node.attributes.text("out");
  // The factor's dimensions in the order of the weights' letters, 1 for those it lacks.
  std::vector<int64_t> perm;
  Extents shape(letters.size(), 1);
  for (size_t i = 0; i < letters.size(); ++i) {
    if (std::ranges::count(letters, letters[i]) > 1) return std::nullopt;  // a diagonal
    const size_t at = out.find(letters[i]);
    if (at == std::string::npos) continue;
    const int64_t extent = factor.type().shape[at];
    if (extent != 1 && extent != weights.type().shape[i]) return std::nullopt;
    perm.push_back(static_cast<int64_t>(at));
    shape[i] = extent;
  }
  for (size_t at = 0; at < out.size(); ++at) {
    if (letters.find(out[at]) != std::string::npos) continue;
    if (factor.type().shape[at] != 1) return std::nullopt;
    perm.push_back(static_cast<int64_t>(at));  // of extent 1
  }
  const auto varying = std::ranges::count_if(shape, [](int64_t extent) { return extent != 1; });
  const Constant moved = transposed(factor, perm).reshaped(shape);
  if (varying == 0) return scaled(weights, moved.number(0));
  if (varying > 1) return combined(weights, moved, Combine::Mul);
  const auto axis = static_cast<size_t>(
      std::ranges::find_if(shape, [](int64_t extent) { return extent != 1; }) - shape.begin());
  return scaled(weights, axis, numbers_of(moved));
}

}  // namespace

std::optional<size_t> constant_weight(const Rewrite& rewrite, const Node& node) {
  const bool conv = node.op == "conv" || node.op == "conv_transpose";
  if ((!conv && node.op != "contract") || node.inputs.size() != 2) return std::nullopt;
  for (const size_t i : {size_t{1}, size_t{0}}) {
    if (conv && i == 0) continue;
    const Constant& known = rewrite.constant(node.inputs[i]);
    if (!known.empty() && ir::is_float(known.type().element)) return i;
  }
  return std::nullopt;
}

std::optional<Constant> scaled_weights(const Rewrite& rewrite, const Node& node, size_t weight,
                                       const Extents& result, const Constant& factor) {
  const Constant& weights = rewrite.constant(node.inputs[weight]);
  const auto fitting = aligned(factor, result);
  if (!fitting || factor.type().element != weights.type().element) return std::nullopt;
  if (node.op == "contract") return scale_contract(node, weight, weights, *fitting);
  return scale_conv(node, weights, result, *fitting);
}

}  // namespace tilewright::graph
