// Small Graphs for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/rng.h"
#include "graph/graph.h"

namespace tilewright::graph {

class TestGraph {
 public:
  using Shape = std::vector<int64_t>;

  ValueId input(const std::string& name, Shape shape, ir::Scalar element = ir::Scalar::F32) {
    return graph_.add_input(name, {.element = element, .shape = std::move(shape)});
  }
  // f32 numbers between -1 and 1.
  ValueId weights(Shape shape) {
    const TensorType type{.element = ir::Scalar::F32, .shape = std::move(shape)};
    std::vector<std::byte> bytes(static_cast<size_t>(type.bytes()));
    for (size_t k = 0; k < bytes.size(); k += sizeof(float)) {
      const auto number = static_cast<float>(2 * rng_.uniform() - 1);
      std::memcpy(&bytes[k], &number, sizeof number);
    }
    return graph_.add_constant("w", Constant::of_bytes(type, std::move(bytes)));
  }
  ValueId number(double value) {
    return graph_.add_constant("number", Constant::of_number(value, ir::Scalar::F32));
  }
  ValueId add(std::string op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    auto made = graph_.add({.op = std::move(op),
                            .attributes = std::move(attributes),
                            .inputs = std::move(inputs),
                            .outputs = {},
                            .origin = {}});
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return made ? made->front() : 0;
  }

  // Channels last, `kernel` square, padded so that stride 1 keeps the size.
  ValueId conv(ValueId x, int64_t channels, int64_t kernel, int64_t stride = 1) {
    const int64_t in = graph_.value(x).type.shape.back();
    const Shape steps(2, stride), pads(2, kernel / 2);
    return add("conv", {x, weights({kernel, kernel, in, channels})},
               {{"stride", steps},
                {"dilation", Shape{1, 1}},
                {"pad_begin", pads},
                {"pad_end", pads},
                {"groups", int64_t{1}},
                {"channels_last", int64_t{1}}});
  }
  ValueId conv_relu(ValueId x, int64_t channels, int64_t kernel, int64_t stride = 1) {
    return add("relu", {add("add", {conv(x, channels, kernel, stride), weights({channels})})});
  }
  // relu(conv(relu(conv(x) + b)) + b + x)
  ValueId residual_block(ValueId x) {
    const int64_t channels = graph_.value(x).type.shape.back();
    const ValueId last = conv(conv_relu(x, channels, 3), channels, 3);
    return add("relu", {add("add", {add("add", {last, weights({channels})}), x})});
  }
  // x, then layers that each read all before.
  ValueId dense_block(ValueId x, int layers, int64_t growth) {
    std::vector<ValueId> parts = {x};
    for (int k = 0; k < layers; ++k) {
      const ValueId all = parts.size() == 1 ? x : add("concat", parts, {{"axis", int64_t{3}}});
      const int64_t channels = graph_.value(all).type.shape.back();
      const ValueId scaled = add("mul", {all, weights({channels})});
      const ValueId active = add("relu", {add("add", {scaled, weights({channels})})});
      parts.push_back(conv(conv_relu(active, 4 * growth, 1), growth, 3));
    }
    return add("concat", parts, {{"axis", int64_t{3}}});
  }
  ValueId linear(ValueId x, int64_t features) {  // [1, l, in] -> [1, l, features]
    const int64_t in = graph_.value(x).type.shape.back();
    const ValueId product =
        add("contract", {x, weights({in, features})}, {{"a", "bik"}, {"b", "kj"}, {"out", "bij"}});
    return add("add", {product, weights({features})});
  }
  ValueId layer_norm(ValueId x) {
    const int64_t width = graph_.value(x).type.shape.back();
    return add("layer_norm", {x, weights({width}), weights({width})},
               {{"axis", int64_t{2}}, {"epsilon", 1e-5}});
  }
  // One layer of BERT, [1, l, heads * d] -> the same.
  ValueId bert_layer(ValueId x, int64_t heads) {
    const Shape shape = graph_.value(x).type.shape;
    const Shape split = {1, shape[1], heads, shape[2] / heads};
    const auto heads_of = [&](ValueId value) {
      return add("reshape", {linear(value, shape[2])}, {{"shape", split}});
    };
    const ValueId q = heads_of(x), k = heads_of(x), v = heads_of(x);
    const ValueId scores = add("contract", {q, k}, {{"a", "blhd"}, {"b", "bmhd"}, {"out", "bhlm"}});
    const ValueId scaled = add("mul", {scores, number(0.125)});
    const ValueId weighted = add("softmax", {scaled}, {{"axis", int64_t{3}}});
    const ValueId context =
        add("contract", {weighted, v}, {{"a", "bhlm"}, {"b", "bmhd"}, {"out", "blhd"}});
    const ValueId joined = add("reshape", {context}, {{"shape", shape}});
    const ValueId attended = layer_norm(add("add", {linear(joined, shape[2]), x}));
    const ValueId wide = add("gelu", {linear(attended, 4 * shape[2])});
    return layer_norm(add("add", {linear(wide, shape[2]), attended}));
  }

  Graph finish(std::vector<ValueId> outputs) {
    graph_.set_outputs(std::move(outputs));
    return graph_;
  }
  const Graph& graph() const { return graph_; }

 private:
  Graph graph_;
  Rng rng_{7};
};

}  // namespace tilewright::graph
