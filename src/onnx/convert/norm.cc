#include "onnx/convert/norm.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx/converter_table.h"

namespace tilewright::onnx {

Tensor layer_norm(Conversion& node, Tensor x, Tensor scale, Tensor bias, size_t axis,
                  double epsilon) {
  return node.result("layer_norm", {{"axis", static_cast<int64_t>(axis)}, {"epsilon", epsilon}},
                     {x, scale, bias});
}

Tensor rms_norm(Conversion& node, Tensor x, Tensor scale, size_t axis, double epsilon) {
  return node.result("rms_norm", {{"axis", static_cast<int64_t>(axis)}, {"epsilon", epsilon}},
                     {x, scale});
}

Tensor per_channel(Conversion& node, Tensor values, Tensor x) {
  if (x->rank() < 2 || values->type.elements() != x->shape()[1]) {
    refuse(fmt::format("{} does not fit the channels of {}", values->type.to_string(),
                       x->type.to_string()));
  }
  Shape shape = ones(x->rank() - 1);
  shape[0] = x->shape()[1];
  return node.reshape(values, std::move(shape));
}

namespace {

Shape axes_from(size_t axis, size_t rank) {
  Shape axes = iota(rank);
  axes.erase(axes.begin(), axes.begin() + static_cast<ptrdiff_t>(axis));
  return axes;
}

std::vector<Tensor> convert_layer_norm(Conversion& node) {
  const Tensor x = node.operand(0);
  const size_t axis = resolve_axis(node.attributes().integer("axis", -1), x->rank());
  const double epsilon = node.attributes().number("epsilon", 1e-5F);
  std::vector<Tensor> results{
      layer_norm(node, x, node.operand(1), node.optional_operand(2), axis, epsilon)};
  if (!node.wants(1) && !node.wants(2)) return results;
  const Shape axes = axes_from(axis, x->rank());
  const Tensor wide = node.cast(x, ir::arithmetic_type(x->element()));
  const Tensor mean = node.reduce(wide, "mean", axes);
  const Tensor from_mean = node.emit("sub", {wide, mean});
  const Tensor variance = node.reduce(node.emit("mul", {from_mean, from_mean}), "mean", axes);
  const Tensor safe = node.emit("add", {variance, node.number(epsilon, variance->element())});
  results.push_back(mean);
  results.push_back(node.emit("reciprocal", {node.emit("sqrt", {safe})}));
  return results;
}

std::vector<Tensor> convert_rms_norm(Conversion& node) {
  const Tensor x = node.operand(0);
  const size_t axis = resolve_axis(node.attributes().integer("axis", -1), x->rank());
  return {rms_norm(node, x, node.operand(1), axis, node.attributes().number("epsilon", 1e-5F))};
}

void want_channels(Tensor x) {
  if (x->rank() < 2) refuse(fmt::format("{} has no channels", x->type.to_string()));
}

// Repeats one value per group to one per channel.
Tensor by_channel(Conversion& node, Tensor values, int64_t groups, int64_t channels) {
  if (values->type.elements() != groups || channels == groups) return values;
  const Tensor column = node.reshape(values, {groups, 1});
  return node.reshape(node.broadcast(column, {groups, channels / groups}), {channels});
}

std::vector<Tensor> convert_group_norm(Conversion& node) {
  const Tensor x = node.operand(0);
  want_channels(x);
  const int64_t groups = node.attributes().integer("num_groups");
  const int64_t channels = x->shape()[1];
  if (groups < 1 || channels % groups != 0) {
    refuse(fmt::format("{} groups of {} channels", groups, channels));
  }
  Tensor scale = node.operand(1);
  Tensor bias = node.operand(2);
  if (node.version() < 21) {
    scale = by_channel(node, scale, groups, channels);
    bias = by_channel(node, bias, groups, channels);
  }
  return {node.result("group_norm",
                      {{"groups", groups},
                       {"epsilon", node.attributes().number("epsilon", 1e-5F)},
                       {"axis", int64_t{1}}},
                      {x, scale, bias})};
}

std::vector<Tensor> convert_instance_norm(Conversion& node) {
  const Tensor x = node.operand(0);
  want_channels(x);
  return {node.result("group_norm",
                      {{"groups", x->shape()[1]},
                       {"epsilon", node.attributes().number("epsilon", 1e-5F)},
                       {"axis", int64_t{1}}},
                      {x, node.operand(1), node.operand(2)})};
}

// old * momentum + now * (1 - momentum)
Tensor moved(Conversion& node, Tensor old, Tensor now, double momentum) {
  const Tensor kept = node.emit("mul", {old, node.number(momentum, old->element())});
  return node.emit("add",
                   {kept, node.emit("mul", {now, node.number(1 - momentum, now->element())})});
}

std::vector<Tensor> convert_batch_norm(Conversion& node) {
  const Tensor x = node.operand(0);
  const graph::Attributes attributes{{"epsilon", node.attributes().number("epsilon", 1e-5F)},
                                     {"axis", int64_t{1}}};
  const bool training = node.attributes().integer("training_mode", 0) != 0;
  if (!training) {
    if (node.version() < 9 && node.attributes().integer("spatial", 1) == 0) {
      not_supported("with statistics of each element (spatial 0)");
    }
    return {node.result("batch_norm", attributes,
                        {x, node.operand(1), node.operand(2), node.operand(3), node.operand(4)})};
  }
  want_channels(x);
  Shape axes = iota(x->rank());
  axes.erase(axes.begin() + 1);
  const Tensor mean = node.reduce(x, "mean", axes);
  const Tensor from_mean = node.emit("sub", {x, mean});
  const Tensor variance = node.reduce(node.emit("mul", {from_mean, from_mean}), "mean", axes);
  const Shape channels{x->shape()[1]};
  const Tensor mean_now = node.reshape(mean, channels);
  const Tensor variance_now = node.reshape(variance, channels);
  const double momentum = node.attributes().number("momentum", 0.9F);
  return {node.result("batch_norm", attributes,
                      {x, node.operand(1), node.operand(2), mean_now, variance_now}),
          moved(node, node.operand(3), mean_now, momentum),
          moved(node, node.operand(4), variance_now, momentum)};
}

std::vector<Tensor> convert_lrn(Conversion& node) {
  const NodeReader& attributes = node.attributes();
  return {node.result("lrn",
                      {{"size", attributes.integer("size")},
                       {"alpha", attributes.number("alpha", 0.0001F)},
                       {"beta", attributes.number("beta", 0.75)},
                       {"bias", attributes.number("bias", 1)},
                       {"axis", int64_t{1}}},
                      {node.operand(0)})};
}

std::vector<Tensor> convert_lp_norm(Conversion& node) {
  const Tensor x = node.operand(0);
  const size_t axis = resolve_axis(node.attributes().integer("axis", -1), x->rank());
  return {node.result(
      "lp_norm", {{"axis", static_cast<int64_t>(axis)}, {"p", node.attributes().integer("p", 2)}},
      {x})};
}

// (x - mean) / (deviation + 1e-9)
std::vector<Tensor> convert_mean_variance_norm(Conversion& node) {
  const Tensor x = node.operand(0);
  const Shape axes = resolve_axes(node.attributes().list("axes", {0, 2, 3}), x->rank());
  const Tensor from_mean = node.emit("sub", {x, node.reduce(x, "mean", axes)});
  const Tensor variance = node.reduce(node.emit("mul", {from_mean, from_mean}), "mean", axes);
  const Tensor safe =
      node.emit("add", {node.emit("sqrt", {variance}), node.number(1e-9, x->element())});
  return {node.result("div", {from_mean, safe})};
}

constexpr ConverterRow kRows[] = {
    {"BatchNormalization", convert_batch_norm},
    {"GroupNormalization", convert_group_norm},
    {"InstanceNormalization", convert_instance_norm},
    {"LRN", convert_lrn},
    {"LayerNormalization", convert_layer_norm},
    {"LpNormalization", convert_lp_norm},
    {"MeanVarianceNormalization", convert_mean_variance_norm},
    {"RMSNormalization", convert_rms_norm},
    {"SimplifiedLayerNormalization", convert_rms_norm},  // by ONNX Runtime's optimizers
};

}  // namespace

std::span<const ConverterRow> norm_converters() { return kRows; }

}  // namespace tilewright::onnx
