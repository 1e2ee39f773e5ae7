// Reductions along axes, softmax and sums along an axis.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "onnx/convert/direct.h"

namespace tilewright::onnx {
namespace {

using ir::Scalar;

// Axes are an attribute until `operand_since`, then an operand. Null: none given.
std::optional<Shape> given_axes(Conversion& node, int64_t operand_since) {
  if (node.version() >= operand_since) {
    return node.has(1) ? std::optional(node.known_integers(1, "axes")) : std::nullopt;
  }
  if (!node.attributes().has("axes")) return std::nullopt;
  return node.attributes().list("axes");
}

std::string kind_for(std::string_view kind, Scalar element) {
  if (element == Scalar::Bool && kind == "max") return "any";
  if (element == Scalar::Bool && kind == "min") return "all";
  return std::string(kind);
}

// The value of a reduction of no elements.
double of_nothing(std::string_view kind) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (kind == "prod" || kind == "all") return 1;
  if (kind == "max" || kind == "log_sum" || kind == "log_sum_exp") return -kInfinity;
  if (kind == "min") return kInfinity;
  return kind == "mean" ? std::numeric_limits<double>::quiet_NaN() : 0;
}

Tensor reduce_nothing(Conversion& node, Tensor x, std::string_view kind, const Shape& axes,
                      bool keep) {
  Shape shape;
  for (size_t k = 0; k < x->rank(); ++k) {
    const bool reduced = std::ranges::find(axes, static_cast<int64_t>(k)) != axes.end();
    if (!reduced || keep) shape.push_back(reduced ? 1 : x->shape()[k]);
  }
  return node.broadcast(node.number(of_nothing(kind), x->element()), std::move(shape));
}

template <OpName kind, int64_t operand_since>
std::vector<Tensor> convert_reduce(Conversion& node) {
  const Tensor x = node.operand(0);
  const std::string how = kind_for(kind.view(), x->element());
  const std::optional<Shape> given = given_axes(node, operand_since);
  Shape axes = resolve_axes(given.value_or(Shape()), x->rank());
  const bool keep = node.attributes().integer("keepdims", 1) != 0;
  const bool none_means_all = node.attributes().integer("noop_with_empty_axes", 0) == 0;
  if (axes.empty() && none_means_all) axes = iota(x->rank());
  if (axes.empty()) {  // over an axis of one element: only the elementwise part
    Shape longer = x->shape();
    longer.push_back(1);
    const auto last = static_cast<int64_t>(x->rank());
    return {node.reduce(node.reshape(x, std::move(longer)), how, {last}, false)};
  }
  if (x->type.elements() == 0) return {reduce_nothing(node, x, how, axes, keep)};
  return {node.result("reduce", {{"kind", how}, {"axes", axes}, {"keep", int64_t{keep}}}, {x})};
}

template <OpName kind>
std::vector<Tensor> convert_arg_reduce(Conversion& node) {
  const Tensor x = node.operand(0);
  const NodeReader& attributes = node.attributes();
  const auto axis = static_cast<int64_t>(resolve_axis(attributes.integer("axis", 0), x->rank()));
  return {node.result("arg_reduce",
                      {{"kind", std::string(kind.view())},
                       {"axis", axis},
                       {"keep", attributes.integer("keepdims", 1)},
                       {"last", attributes.integer("select_last_index", 0)}},
                      {x})};
}

// Until version 13 all dimensions from the axis on are one.
struct Rows {
  Tensor x;
  int64_t axis;
};

Rows rows_of(Conversion& node) {
  const Tensor x = node.operand(0);
  const int64_t fallback = node.version() < 13 ? 1 : -1;
  const size_t axis = resolve_axis(node.attributes().integer("axis", fallback), x->rank());
  if (node.version() >= 13 || axis + 1 == x->rank()) {
    return {.x = x, .axis = static_cast<int64_t>(axis)};
  }
  const std::span<const int64_t> shape(x->shape());
  return {.x = node.reshape(x, {product(shape.first(axis)), product(shape.subspan(axis))}),
          .axis = 1};
}

template <bool log>
std::vector<Tensor> convert_softmax(Conversion& node) {
  const auto [x, axis] = rows_of(node);
  const Tensor y = node.result("softmax", {{"axis", axis}, {"log", int64_t{log}}}, {x});
  return {node.reshape(y, node.operand(0)->shape())};
}

// 1 at the first largest element, else 0
std::vector<Tensor> convert_hardmax(Conversion& node) {
  const auto [x, axis] = rows_of(node);
  const Tensor largest =
      node.emit("arg_reduce", {{"kind", "max"}, {"axis", axis}, {"keep", int64_t{0}}}, {x});
  const Tensor hot = node.result("one_hot",
                                 {{"depth", x->shape()[static_cast<size_t>(axis)]},
                                  {"axis", axis},
                                  {"on", 1.0},
                                  {"off", 0.0},
                                  {"to", std::string(ir::name_of(x->element()))}},
                                 {largest});
  return {node.reshape(hot, node.operand(0)->shape())};
}

std::vector<Tensor> convert_cum_sum(Conversion& node) {
  const Tensor x = node.operand(0);
  const size_t axis = resolve_axis(node.known_integer(1, "axis"), x->rank());
  return {node.result("cum_sum",
                      {{"axis", static_cast<int64_t>(axis)},
                       {"exclusive", node.attributes().integer("exclusive", 0)},
                       {"reverse", node.attributes().integer("reverse", 0)}},
                      {x})};
}

constexpr ConverterRow kRows[] = {
    {"ArgMax", convert_arg_reduce<"max">},
    {"ArgMin", convert_arg_reduce<"min">},
    {"CumSum", convert_cum_sum},
    {"Hardmax", convert_hardmax},
    {"LogSoftmax", convert_softmax<true>},
    {"ReduceL1", convert_reduce<"l1", 18>},
    {"ReduceL2", convert_reduce<"l2", 18>},
    {"ReduceLogSum", convert_reduce<"log_sum", 18>},
    {"ReduceLogSumExp", convert_reduce<"log_sum_exp", 18>},
    {"ReduceMax", convert_reduce<"max", 18>},
    {"ReduceMean", convert_reduce<"mean", 18>},
    {"ReduceMin", convert_reduce<"min", 18>},
    {"ReduceProd", convert_reduce<"prod", 18>},
    {"ReduceSum", convert_reduce<"sum", 13>},
    {"ReduceSumSquare", convert_reduce<"sum_square", 18>},
    {"Softmax", convert_softmax<false>},
};

}  // namespace

std::span<const ConverterRow> reduce_converters() { return kRows; }

}  // namespace tilewright::onnx
