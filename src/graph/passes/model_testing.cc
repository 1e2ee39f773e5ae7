#include "graph/passes/model_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/evaluate.h"
#include "graph/op_table.h"
#include "graph/passes/constant_math.h"

namespace tilewright::graph {

using Shape = std::vector<int64_t>;

ValueId Exported::constant(Shape shape, const std::vector<double>& numbers) {
  const TensorType type{.element = ir::Scalar::F32, .shape = std::move(shape)};
  return graph_.add_constant("constant", of_numbers(type, numbers));
}

ValueId Exported::weights(Shape shape) {
  const TensorType type{.element = ir::Scalar::F32, .shape = shape};
  std::vector<double> numbers(static_cast<size_t>(type.elements()));
  for (double& number : numbers) number = 2 * rng_.uniform() - 1;
  return constant(std::move(shape), numbers);
}

ValueId Exported::add(std::string op, std::vector<ValueId> inputs, Attributes attributes) {
  const auto made = graph_.add({.op = std::move(op),
                                .attributes = std::move(attributes),
                                .inputs = std::move(inputs),
                                .outputs = {},
                                .origin = {}});
  EXPECT_TRUE(made.has_value()) << made.error().message;
  return made ? made->front() : 0;
}

Graph Exported::finish(std::vector<ValueId> outputs) {
  graph_.set_outputs(std::move(outputs));
  return graph_;
}

ValueId Exported::mean(ValueId x, Shape axes, bool keep) {
  return add("reduce", {x},
             {{"kind", "mean"}, {"axes", std::move(axes)}, {"keep", int64_t{keep ? 1 : 0}}});
}

ValueId Exported::conv_first(ValueId x, int64_t channels, Window window) {
  const size_t spatial = shape(x).size() - 2;
  Shape w(spatial + 2, window.kernel);
  w[0] = channels;
  w[1] = shape(x)[1] / window.groups;
  const ValueId y = add("conv", {x, weights(w)},
                        {{"stride", Shape(spatial, window.stride)},
                         {"dilation", Shape(spatial, 1)},
                         {"pad_begin", Shape(spatial, window.kernel / 2)},
                         {"pad_end", Shape(spatial, window.kernel / 2)},
                         {"groups", window.groups}});
  if (!window.bias) return y;
  Shape b(spatial + 2, 1);
  b[1] = channels;
  return add("add", {y, weights(b)});
}

ValueId Exported::conv_transpose(ValueId x, int64_t channels, int64_t kernel, int64_t stride,
                                 int64_t pad) {
  return add("conv_transpose", {x, weights({shape(x)[1], channels, kernel, kernel})},
             {{"stride", Shape{stride, stride}},
              {"dilation", Shape{1, 1}},
              {"pad_begin", Shape{pad, pad}},
              {"pad_end", Shape{pad, pad}},
              {"output_padding", Shape{0, 0}},
              {"groups", int64_t{1}}});
}

ValueId Exported::batch_norm(ValueId x) {
  const int64_t channels = shape(x)[1];
  std::vector<double> variance(static_cast<size_t>(channels));
  for (size_t i = 0; i < variance.size(); ++i) variance[i] = 0.5 + 0.1 * static_cast<double>(i);
  return add("batch_norm",
             {x, weights({channels}), weights({channels}), weights({channels}),
              constant({channels}, variance)},
             {{"epsilon", 1e-5}, {"axis", int64_t{1}}});
}

ValueId Exported::max_pool(ValueId x, int64_t kernel, int64_t stride) {
  return add("pool", {x},
             {{"kind", "max"},
              {"kernel", Shape{kernel, kernel}},
              {"stride", Shape{stride, stride}},
              {"dilation", Shape{1, 1}},
              {"pad_begin", Shape{kernel / 2, kernel / 2}},
              {"pad_end", Shape{kernel / 2, kernel / 2}}});
}

ValueId Exported::classifier(ValueId x, int64_t classes) {
  int64_t features = 1;
  for (size_t i = 1; i < shape(x).size(); ++i) features *= shape(x)[i];
  const ValueId flat = reshape(x, {shape(x)[0], features});
  const ValueId product = add("contract", {flat, weights({classes, features})},
                              {{"a", "ik"}, {"b", "jk"}, {"out", "ij"}});
  return add("add", {product, weights({classes})});
}

ValueId Exported::matmul(ValueId x, int64_t features) {
  const ValueId product = add("contract", {x, weights({shape(x).back(), features})},
                              {{"a", "bik"}, {"b", "kj"}, {"out", "bij"}});
  return add("add", {weights({features}), product});
}

ValueId Exported::gelu_erf(ValueId x) {
  const ValueId sum =
      add("add", {add("erf", {add("div", {x, number(std::sqrt(2.0))})}), number(1)});
  return add("mul", {add("mul", {x, sum}), number(0.5)});
}

ValueId Exported::spelled_layer_norm(ValueId x) {
  const int64_t width = shape(x).back();
  const ValueId centered = add("sub", {x, mean(x, {-1})});
  const ValueId variance = mean(add("pow", {centered, number(2)}), {-1});
  const ValueId root = add("sqrt", {add("add", {variance, number(1e-5)})});
  const ValueId scaled = add("mul", {add("div", {centered, root}), weights({width})});
  return add("add", {scaled, weights({width})});
}

ValueId Exported::spelled_rms_norm(ValueId x) {
  const ValueId wide = add("cast", {x}, {{"to", "f32"}});
  const ValueId power = mean(add("pow", {wide, number(2)}), {-1});
  const ValueId root = add("sqrt", {add("add", {power, number(1e-6)})});
  const ValueId normed = add("mul", {wide, add("div", {number(1), root})});
  return add("mul", {weights({shape(x).back()}), add("cast", {normed}, {{"to", "f32"}})});
}

ValueId Exported::heads_of(ValueId x, int64_t heads) {
  const Shape& s = shape(x);
  return transpose(reshape(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}

Graph resnet_block() {
  Exported g;
  const ValueId x = g.input("x", {1, 3, 8, 8});
  const ValueId stem = g.max_pool(
      g.add("relu", {g.batch_norm(g.conv_first(x, 4, {.kernel = 3, .bias = false}))}), 3, 2);
  const ValueId a = g.add("relu", {g.conv_first(stem, 8, {.stride = 2})});
  const ValueId b = g.conv_first(a, 8, {});
  const ValueId down = g.conv_first(stem, 8, {.kernel = 1, .stride = 2});
  const ValueId sum = g.add("relu", {g.add("add", {b, down})});
  return g.finish({g.classifier(g.mean(sum, {2, 3}), 5)});
}

Graph densenet_block() {
  Exported g;
  const ValueId x = g.input("x", {1, 3, 6, 6});
  std::vector<ValueId> parts = {g.conv_first(x, 4, {})};
  for (int i = 0; i < 2; ++i) {
    const ValueId all = i == 0 ? parts[0] : g.add("concat", parts, {{"axis", int64_t{1}}});
    const ValueId wide =
        g.add("relu", {g.conv_first(g.add("relu", {g.batch_norm(all)}), 6, {.kernel = 1})});
    parts.push_back(g.conv_first(wide, 2, {.bias = false}));
  }
  const ValueId all = g.add("concat", parts, {{"axis", int64_t{1}}});
  const ValueId thin = g.conv_first(g.add("relu", {g.batch_norm(all)}), 4, {.kernel = 1});
  const ValueId pooled = g.add("pool", {thin},
                               {{"kind", "average"},
                                {"kernel", Shape{2, 2}},
                                {"stride", Shape{2, 2}},
                                {"dilation", Shape{1, 1}},
                                {"pad_begin", Shape{0, 0}},
                                {"pad_end", Shape{0, 0}}});
  return g.finish({g.classifier(g.mean(g.add("relu", {g.batch_norm(pooled)}), {2, 3}), 3)});
}

Graph mobilenet_block() {
  Exported g;
  const ValueId x = g.input("x", {1, 3, 8, 8});
  const ValueId stem = g.relu6(g.conv_first(x, 4, {.stride = 2}));
  const ValueId wide = g.relu6(g.conv_first(stem, 8, {.kernel = 1}));
  const ValueId deep = g.relu6(g.conv_first(wide, 8, {.kernel = 3, .groups = 8}));
  const ValueId thin = g.conv_first(deep, 4, {.kernel = 1});
  const ValueId sum = g.add("add", {stem, thin});
  // Squeeze and excite, with hard_swish spelled out.
  const ValueId gate = g.add("hard_sigmoid", {g.conv_first(g.mean(sum, {2, 3}), 4, {.kernel = 1})},
                             {{"alpha", 1.0 / 6}, {"beta", 0.5}});
  const ValueId gated = g.add("mul", {sum, gate});
  const ValueId clipped =
      g.add("clip", {g.add("add", {gated, g.number(3)}), g.number(0), g.number(6)});
  const ValueId active = g.add("div", {g.add("mul", {gated, clipped}), g.number(6)});
  return g.finish({g.classifier(g.mean(active, {2, 3}), 3)});
}

Graph squeezenet_fire() {
  Exported g;
  const ValueId x = g.input("x", {1, 3, 8, 8});
  const ValueId squeezed = g.add("relu", {g.conv_first(x, 4, {.kernel = 1})});
  const ValueId left = g.add("relu", {g.conv_first(squeezed, 4, {.kernel = 1})});
  const ValueId right = g.add("relu", {g.conv_first(squeezed, 4, {})});
  const ValueId all = g.add("concat", {left, right}, {{"axis", int64_t{1}}});
  const ValueId last = g.add("relu", {g.conv_first(g.max_pool(all, 3, 2), 5, {.kernel = 1})});
  return g.finish({g.reshape(g.mean(last, {2, 3}), {1, 5})});
}

Graph vgg_head() {
  Exported g;
  const ValueId x = g.input("x", {2, 3, 4, 4});
  const ValueId image = g.max_pool(g.add("relu", {g.conv_first(x, 5, {})}), 3, 2);
  const ValueId same = g.add("pool", {image},
                             {{"kind", "average"},
                              {"kernel", Shape{1, 1}},
                              {"stride", Shape{1, 1}},
                              {"dilation", Shape{1, 1}},
                              {"pad_begin", Shape{0, 0}},
                              {"pad_end", Shape{0, 0}}});
  const ValueId wide = g.add("relu", {g.classifier(same, 6)});
  return g.finish({g.classifier(wide, 3)});
}

Graph video_block() {
  Exported g;
  const ValueId x = g.input("x", {1, 3, 4, 6, 6});
  const ValueId stem = g.add("relu", {g.conv_first(x, 4, {.stride = 2})});
  const ValueId deep = g.conv_first(g.add("relu", {g.conv_first(stem, 4, {})}), 4, {});
  const ValueId sum = g.add("relu", {g.add("add", {deep, stem})});
  return g.finish({g.classifier(g.mean(sum, {2, 3, 4}), 3)});
}

Graph dcgan_generator() {
  Exported g;
  const ValueId x = g.input("x", {1, 6, 1, 1});
  const ValueId a = g.add("relu", {g.batch_norm(g.conv_transpose(x, 5, 4, 1, 0))});
  const ValueId b = g.add("relu", {g.batch_norm(g.conv_transpose(a, 4, 4, 2, 1))});
  return g.finish({g.add("tanh", {g.conv_transpose(b, 3, 4, 2, 1)})});
}

Graph bert_layer() {
  Exported g;
  const ValueId x = g.input("x", {1, 6, 8});
  const ValueId mask = g.input("mask", {1, 6}, ir::Scalar::Bool);
  const ValueId spread =
      g.add("broadcast", {g.reshape(mask, {1, 1, 1, 6})}, {{"shape", Shape{1, 1, 6, 6}}});
  const ValueId bias = g.add("where", {spread, g.number(0), g.number(-1e4)});
  const ValueId q = g.heads_of(g.matmul(x, 8), 2);
  const ValueId k = g.transpose(g.reshape(g.matmul(x, 8), {1, 6, 2, 4}), {0, 2, 3, 1});
  const ValueId v = g.heads_of(g.matmul(x, 8), 2);
  const ValueId scores = g.add("contract", {q, k}, {{"a", "bhik"}, {"b", "bhkj"}, {"out", "bhij"}});
  const ValueId masked = g.add("add", {g.add("mul", {scores, g.number(0.5)}), bias});
  const ValueId weighted = g.add("softmax", {masked}, {{"axis", int64_t{-1}}});
  const ValueId context =
      g.add("contract", {weighted, v}, {{"a", "bhik"}, {"b", "bhkj"}, {"out", "bhij"}});
  const ValueId joined = g.reshape(g.transpose(context, {0, 2, 1, 3}), {1, 6, 8});
  const ValueId attended = g.spelled_layer_norm(g.add("add", {g.matmul(joined, 8), x}));
  const ValueId wide = g.gelu_erf(g.matmul(attended, 16));
  return g.finish({g.spelled_layer_norm(g.add("add", {g.matmul(wide, 8), attended}))});
}

// x * cos + rotate_half(x) * sin, on [1, h, l, d].
static ValueId rotary(Exported& g, ValueId x, ValueId cos, ValueId sin) {
  Shape half = g.shape(x);
  half[3] /= 2;
  const Shape ones(4, 1);
  const ValueId front =
      g.add("slice", {x}, {{"begin", Shape{0, 0, 0, 0}}, {"size", half}, {"step", ones}});
  const ValueId back =
      g.add("slice", {x}, {{"begin", Shape{0, 0, 0, half[3]}}, {"size", half}, {"step", ones}});
  const ValueId turned = g.add("concat", {g.add("neg", {back}), front}, {{"axis", int64_t{3}}});
  return g.add("add", {g.add("mul", {x, cos}), g.add("mul", {turned, sin})});
}

Graph llama_layer() {
  Exported g;
  const ValueId x = g.input("x", {1, 4, 8});
  const ValueId normed = g.spelled_rms_norm(x);
  const ValueId cos = g.weights({1, 1, 4, 4});
  const ValueId sin = g.weights({1, 1, 4, 4});
  const ValueId q = rotary(g, g.heads_of(g.matmul(normed, 8), 2), cos, sin);
  const ValueId k = rotary(g, g.heads_of(g.matmul(normed, 4), 1), cos, sin);
  const ValueId v = g.heads_of(g.matmul(normed, 4), 1);
  const auto repeated = [&](ValueId value) {  // one head for all
    const ValueId spread =
        g.add("broadcast", {g.reshape(value, {1, 1, 1, 4, 4})}, {{"shape", Shape{1, 1, 2, 4, 4}}});
    return g.reshape(spread, {1, 2, 4, 4});
  };
  const ValueId scores = g.add("contract", {q, g.transpose(repeated(k), {0, 1, 3, 2})},
                               {{"a", "bhik"}, {"b", "bhkj"}, {"out", "bhij"}});
  const ValueId scaled = g.add("div", {scores, g.number(2)});
  const ValueId mask =
      g.constant({1, 1, 4, 4}, {0, -1e4, -1e4, -1e4, 0, 0, -1e4, -1e4, 0, 0, 0, -1e4, 0, 0, 0, 0});
  const ValueId exponent = g.add("add", {scaled, mask});
  const ValueId top =
      g.add("reduce", {exponent}, {{"kind", "max"}, {"axes", Shape{3}}, {"keep", int64_t{1}}});
  const ValueId e = g.add("exp", {g.add("sub", {exponent, top})});
  const ValueId total =
      g.add("reduce", {e}, {{"kind", "sum"}, {"axes", Shape{3}}, {"keep", int64_t{1}}});
  const ValueId context = g.add("contract", {g.add("div", {e, total}), repeated(v)},
                                {{"a", "bhik"}, {"b", "bhkj"}, {"out", "bhij"}});
  const ValueId joined = g.reshape(g.transpose(context, {0, 2, 1, 3}), {1, 4, 8});
  const ValueId attended = g.add("add", {g.matmul(joined, 8), x});
  const ValueId inner = g.spelled_rms_norm(attended);
  const ValueId gate = g.matmul(inner, 12);
  const ValueId active = g.add("mul", {gate, g.add("sigmoid", {gate})});
  const ValueId down = g.matmul(g.add("mul", {active, g.matmul(inner, 12)}), 8);
  return g.finish({g.add("add", {down, attended})});
}

Graph convnext_block() {
  Exported g;
  const ValueId x = g.input("x", {1, 4, 5, 5});
  const ValueId deep = g.conv_first(x, 4, {.kernel = 3, .groups = 4});
  const ValueId last = g.spelled_layer_norm(g.transpose(deep, {0, 2, 3, 1}));
  const ValueId rows = g.reshape(last, {1, 25, 4});
  const ValueId wide = g.gelu_erf(g.matmul(rows, 8));
  const ValueId thin = g.add("mul", {g.matmul(wide, 4), g.weights({4})});
  const ValueId first = g.transpose(g.reshape(thin, {1, 5, 5, 4}), {0, 3, 1, 2});
  return g.finish({g.add("add", {x, first})});
}

Graph vit_stem() {
  Exported g;
  const ValueId x = g.input("x", {1, 3, 4, 4});
  const ValueId patches = g.add("conv", {x, g.weights({6, 3, 2, 2})},
                                {{"stride", Shape{2, 2}},
                                 {"dilation", Shape{1, 1}},
                                 {"pad_begin", Shape{0, 0}},
                                 {"pad_end", Shape{0, 0}},
                                 {"groups", int64_t{1}}});
  const ValueId biased = g.add("add", {patches, g.weights({1, 6, 1, 1})});
  const ValueId rows = g.transpose(g.reshape(biased, {1, 6, 4}), {0, 2, 1});
  const ValueId all = g.add("concat", {g.weights({1, 1, 6}), rows}, {{"axis", int64_t{1}}});
  const ValueId placed = g.add("add", {all, g.weights({1, 5, 6})});
  const ValueId first =
      g.add("gather", {g.matmul(g.spelled_layer_norm(placed), 6), g.integers({}, {0})},
            {{"axis", int64_t{1}}});
  return g.finish({g.classifier(first, 3)});
}

Graph segmentation_head() {
  Exported g;
  const ValueId x = g.input("x", {1, 3, 4, 4});
  const ValueId low = g.conv_first(x, 4, {.stride = 2});
  const ValueId normed = g.add("group_norm", {low, g.weights({4}), g.weights({4})},
                               {{"groups", int64_t{2}}, {"epsilon", 1e-5}, {"axis", int64_t{1}}});
  const ValueId padded =
      g.add("pad", {normed},
            {{"before", Shape{0, 0, 1, 1}}, {"after", Shape{0, 0, 1, 1}}, {"mode", "reflect"}});
  const ValueId cut = g.add(
      "slice", {padded},
      {{"begin", Shape{0, 1, 1, 0}}, {"size", Shape{1, 3, 2, 4}}, {"step", Shape{1, 1, 1, 1}}});
  const ValueId large = g.add("resize", {cut},
                              {{"to", Shape{1, 3, 4, 4}},
                               {"mode", "linear"},
                               {"coordinates", "asymmetric"},
                               {"scales", "1,1,2,1"}});
  const ValueId slope = g.add("prelu", {large, g.weights({3, 1, 1})});
  const ValueId mixed = g.add("add", {g.conv_first(slope, 3, {}), g.weights({1, 1, 4, 4})});
  return g.finish({g.add("softmax", {mixed}, {{"axis", int64_t{1}}}),
                   g.add("arg_reduce", {mixed},
                         {{"kind", "max"}, {"axis", int64_t{1}}, {"keep", int64_t{0}}})});
}

std::vector<TestModel> test_models() {
  return {{"resnet_block", resnet_block()},
          {"densenet_block", densenet_block()},
          {"mobilenet_block", mobilenet_block()},
          {"squeezenet_fire", squeezenet_fire()},
          {"vgg_head", vgg_head()},
          {"video_block", video_block()},
          {"dcgan_generator", dcgan_generator()},
          {"bert_layer", bert_layer()},
          {"llama_layer", llama_layer()},
          {"convnext_block", convnext_block()},
          {"vit_stem", vit_stem()},
          {"segmentation_head", segmentation_head()}};
}

std::vector<Constant> random_inputs(const Graph& graph, uint64_t seed) {
  Rng rng(seed);
  std::vector<Constant> inputs;
  for (const ValueId input : graph.inputs()) {
    const TensorType& type = graph.value(input).type;
    std::vector<double> numbers(static_cast<size_t>(type.elements()));
    for (double& number : numbers) {
      number = ir::is_float(type.element) ? 2 * rng.uniform() - 1 : rng.uniform() < 0.5 ? 0 : 1;
    }
    inputs.push_back(of_numbers(type, numbers));
  }
  return inputs;
}

std::vector<Constant> evaluate_graph(const Graph& graph, const std::vector<Constant>& inputs) {
  std::map<ValueId, Constant> known;
  for (size_t i = 0; i < inputs.size(); ++i) known[graph.inputs()[i]] = inputs[i];
  const auto value_of = [&](ValueId v) {
    return graph.value(v).is_constant() ? graph.value(v).constant : known.at(v);
  };
  for (const Node& node : graph.nodes()) {
    std::vector<std::optional<TensorType>> types;
    std::vector<Constant> operands;
    for (const ValueId input : node.inputs) {
      types.push_back(input == kNone ? std::nullopt : std::optional(graph.value(input).type));
      if (input != kNone) operands.push_back(value_of(input));
    }
    const auto dag = find_op(node.op)->define(node.attributes, types);
    EXPECT_TRUE(dag.has_value()) << node.op;
    if (!dag) return {};
    const auto results = evaluate(**dag, operands);
    EXPECT_TRUE(results.has_value()) << node.op << ": " << results.error().message;
    if (!results) return {};
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      EXPECT_EQ((*results)[i].type(), graph.value(node.outputs[i]).type) << node.op;
      known[node.outputs[i]] = (*results)[i];
    }
  }
  std::vector<Constant> outputs;
  for (const ValueId output : graph.outputs()) outputs.push_back(value_of(output));
  return outputs;
}

double largest_error(const std::vector<Constant>& a, const std::vector<Constant>& b) {
  if (a.size() != b.size()) return 1e30;
  double error = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].type() != b[i].type()) return 1e30;
    const std::vector<double> left = numbers_of(a[i]);
    const std::vector<double> right = numbers_of(b[i]);
    double largest = 1e-30;
    for (const double number : left) largest = std::max(largest, std::abs(number));
    for (size_t k = 0; k < left.size(); ++k) {
      const double difference = std::abs(left[k] - right[k]) / largest;
      error = std::isnan(difference) ? 1e30 : std::max(error, difference);
    }
  }
  return error;
}

std::map<std::string, int> count_ops(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const Node& node : graph.nodes()) ++counts[node.op];
  return counts;
}

Graph after(const Graph& graph, Result<Graph> (*pass)(const Graph&, const PassOptions&),
            const PassOptions& options) {
  Result<Graph> result = pass(graph, options);
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return result ? *std::move(result) : Graph();
}

}  // namespace tilewright::graph
