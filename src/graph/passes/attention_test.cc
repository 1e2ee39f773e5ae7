// Attention in the decomposed form of transformers: recognized, and split again.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>

#include "graph/partition.h"
#include "graph/passes/absorb_broadcasts.h"
#include "graph/passes/model_testing.h"
#include "graph/passes/recognize_attention.h"
#include "graph/passes/split_attention.h"
#include "graph/separate_outputs.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;
using Masked = std::function<ValueId(Exported& g, ValueId scores)>;

const double kLowest = std::numeric_limits<float>::lowest();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How queries, keys and values are made of x.
enum class Projection : uint8_t {
  Apart,      // three products
  Columns,    // columns of one product
  FirstAxis,  // one product, whose parts are moved to the first axis and selected there
};

struct Heads {
  int64_t batch = 1, length = 5, heads = 4, shared = 4, width = 6;  // `shared` of keys and values
  Projection projection = Projection::Apart;
  bool sdpa = false;  // as PyTorch writes it: scales before the product, rows without keys are 0
};

// k and v with each head repeated, as decoders do.
ValueId repeated(Exported& g, ValueId x, int64_t times) {
  const Shape s = g.shape(x);  // [b, h, l, d]
  if (times == 1) return x;
  const ValueId spread = g.add("broadcast", {g.reshape(x, {s[0], s[1], 1, s[2], s[3]})},
                               {{"shape", Shape{s[0], s[1], times, s[2], s[3]}}});
  return g.reshape(spread, {s[0], s[1] * times, s[2], s[3]});
}

const Attributes kProduct = {
    {"a", std::string("bhik")}, {"b", std::string("bhkj")}, {"out", std::string("bhij")}};

// q, k and v, [b, h, l, d].
std::array<ValueId, 3> projected(Exported& g, ValueId x, const Heads& of) {
  const int64_t own = of.heads * of.width;
  const int64_t shared = of.shared * of.width;
  if (of.projection == Projection::Apart) {
    return {g.heads_of(g.matmul(x, own), of.heads), g.heads_of(g.matmul(x, shared), of.shared),
            g.heads_of(g.matmul(x, shared), of.shared)};
  }
  const ValueId all = g.matmul(x, own + 2 * shared);
  if (of.projection == Projection::Columns) {
    const auto part = [&](int64_t begin, int64_t heads) {
      return g.heads_of(g.add("slice", {all},
                              {{"begin", Shape{0, 0, begin}},
                               {"size", Shape{of.batch, of.length, heads * of.width}}}),
                        heads);
    };
    return {part(0, of.heads), part(own, of.shared), part(own + shared, of.shared)};
  }
  const ValueId parts =
      g.transpose(g.reshape(all, {of.batch, of.length, 3, of.heads, of.width}), {2, 0, 3, 1, 4});
  const auto part = [&](int64_t index) {
    const ValueId one = g.add("gather", {parts, g.integers({1}, {index})}, {{"axis", int64_t{0}}});
    return g.reshape(one, {of.batch, of.heads, of.length, of.width});
  };
  return {part(0), part(1), part(2)};
}

// softmax(masked(q k)) v, of x: [b, l, heads * width].
ValueId attention(Exported& g, ValueId x, const Heads& of, const Masked& masked) {
  auto [q, k, v] = projected(g, x, of);
  const int64_t times = of.heads / of.shared;
  ValueId turned = g.transpose(repeated(g, k, times), {0, 1, 3, 2});
  if (of.sdpa) {
    q = g.add("mul", {q, g.number(0.7)});
    turned = g.add("mul", {turned, g.number(0.7)});
  }
  const ValueId scores = g.add("contract", {q, turned}, kProduct);
  ValueId weights = g.add("softmax", {masked(g, scores)}, {{"axis", int64_t{-1}}});
  if (of.sdpa) {
    weights = g.add("where", {g.add("is_nan", {weights}), g.number(0), weights});
  }
  const ValueId mixed = g.add("contract", {weights, repeated(g, v, times)}, kProduct);
  return g.matmul(
      g.reshape(g.transpose(mixed, {0, 2, 1, 3}), {of.batch, of.length, of.heads * of.width}), 3);
}

Graph model(const Heads& of, const Masked& masked) {
  Exported g;
  const ValueId x = g.input("x", {of.batch, of.length, of.heads * of.width});
  return g.finish({attention(g, x, of, masked)});
}

Graph passed(const Graph& graph, std::vector<std::string> off = {}) {
  const auto now = run_passes(graph, {.off = std::move(off), .permissions = {}, .execute = {}});
  EXPECT_TRUE(now.has_value()) << now.error().message;
  return now ? *now : Graph();
}

int count(const Graph& graph, const std::string& op) {
  const auto counts = count_ops(graph);
  return counts.contains(op) ? counts.at(op) : 0;
}

ValueId halved(Exported& g, ValueId x) { return g.add("mul", {x, g.number(0.5)}); }

// A causal mask: 1 if the query may attend to the key.
ValueId causal(Exported& g, int64_t length) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t j = 0; j < length; ++j) numbers.push_back(j <= i ? 1 : 0);
  }
  return g.add("cast", {g.constant({1, 1, length, length}, numbers)}, {{"to", "bool"}});
}

struct Case {
  std::string name;
  Heads heads = {};
  Masked masked;
  size_t operands = 3;
};

std::vector<Case> cases() {
  const Heads grouped = {.shared = 2};
  return {
      {.name = "vit", .masked = halved},
      {.name = "no_scale", .masked = [](Exported&, ValueId x) { return x; }},
      {.name = "bert",
       .masked =
           [](Exported& g, ValueId x) {
             const ValueId mask = g.input("mask", {1, 1, 1, 5});
             return g.add("add", {mask, g.add("div", {x, g.number(2)})});
           },
       .operands = 4},
      {.name = "gpt2",
       .masked =
           [](Exported& g, ValueId x) {
             return g.add("where", {causal(g, 5), halved(g, x), g.number(kLowest)});
           },
       .operands = 4},
      {.name = "gpt2_with_padding",
       .masked =
           [](Exported& g, ValueId x) {
             const ValueId seen =
                 g.add("where", {causal(g, 5), halved(g, x), g.number(-kInfinity)});
             return g.add("add", {seen, g.input("mask", {1, 1, 1, 5})});
           },
       .operands = 5},
      {.name = "filled",
       .masked =
           [](Exported& g, ValueId x) {
             return g.add("where", {g.input("mask", {1, 1, 1, 5}, ir::Scalar::Bool), g.number(-1e9),
                                    halved(g, x)});
           },
       .operands = 4},
      {.name = "swin",  // windows of images, whose masks differ
       .heads = {.batch = 3},
       .masked =
           [](Exported& g, ValueId x) {
             const ValueId placed = g.add("add", {x, g.weights({1, 4, 5, 5})});
             const ValueId apart = g.reshape(placed, {1, 3, 4, 5, 5});
             const ValueId masked = g.add("add", {apart, g.weights({1, 3, 1, 5, 5})});
             return g.reshape(masked, {3, 4, 5, 5});
           },
       .operands = 5},
      {.name = "llama",
       .heads = grouped,
       .masked =
           [](Exported& g, ValueId x) {
             return g.add("add", {halved(g, x), g.input("mask", {1, 1, 5, 5})});
           },
       .operands = 4},
      {.name = "columns_of_one_product",
       .heads = {.batch = 2, .projection = Projection::Columns},
       .masked = halved},
      {.name = "columns_with_shared_heads",
       .heads = {.shared = 2, .projection = Projection::Columns},
       .masked = [](Exported& g,
                    ValueId x) { return g.add("where", {causal(g, 5), x, g.number(-1e4)}); },
       .operands = 4},
      {.name = "one_product_with_parts_first",
       .heads = {.projection = Projection::FirstAxis, .sdpa = true},
       .masked = [](Exported& g,
                    ValueId x) { return g.add("add", {x, g.input("m", {1, 1, 5, 5})}); },
       .operands = 4},
      {.name = "bias_and_mask_in_one_sum",
       .masked =
           [](Exported& g, ValueId x) {
             const ValueId bias =
                 g.add("add", {g.weights({1, 4, 5, 5}), g.input("m", {1, 1, 1, 5})});
             return g.add("add", {x, bias});
           },
       .operands = 4},
      {.name = "one_shared_head",
       .heads = {.shared = 1},
       .masked = [](Exported& g,
                    ValueId x) { return g.add("add", {halved(g, x), g.weights({1, 4, 1, 5})}); },
       .operands = 4},
      {.name = "sdpa_where_a_query_sees_nothing",
       .heads = {.sdpa = true},
       .masked =
           [](Exported& g, ValueId x) {
             std::vector<double> mask(25, 0);
             for (size_t j = 5; j < 10; ++j) mask[j] = -kInfinity;  // the second row
             return g.add("add", {x, g.constant({1, 1, 5, 5}, mask)});
           },
       .operands = 4},
      {.name = "shared_and_batched",
       .heads = {.batch = 2, .shared = 2},
       .masked = [](Exported& g,
                    ValueId x) { return g.add("where", {causal(g, 5), x, g.number(-1e4)}); },
       .operands = 4},
  };
}

class RecognizeAttention : public testing::TestWithParam<Case> {};

TEST_P(RecognizeAttention, ReplacesThePatternAndKeepsTheResult) {
  const Graph before = model(GetParam().heads, GetParam().masked);
  const Graph one = passed(before, {"split_attention"});
  EXPECT_EQ(count(one, "attention"), 1) << one.to_string();
  const Graph three = passed(before);
  EXPECT_EQ(count(three, "attention"), 0) << three.to_string();
  const std::vector<Constant> inputs = random_inputs(before, 5);
  const std::vector<Constant> expected = evaluate_graph(before, inputs);
  for (const Graph& now : {one, three}) {
    EXPECT_EQ(count(now, "transpose"), 0) << now.to_string();
    EXPECT_EQ(count(now, "broadcast"), 0) << now.to_string();
    EXPECT_LT(largest_error(expected, evaluate_graph(now, inputs)), 2e-6) << now.to_string();
  }
  EXPECT_EQ(count(one, "mul"), 0) << one.to_string();
  EXPECT_EQ(count(one, "is_nan"), 0) << one.to_string();
  for (const Node& node : one.nodes()) {
    if (node.op != "attention") continue;
    EXPECT_EQ(node.inputs.size(), GetParam().operands);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RecognizeAttention, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

// The same kernels, including the names of their loops: records of one apply to the other.
TEST(SplitAttention, GivesTheKernelsOfItsParts) {
  const auto texts = [](const Graph& graph) {
    const auto separate = separate_outputs(graph);
    const auto parts = partition(*separate, {});
    EXPECT_TRUE(parts.has_value());
    std::vector<std::string> all;
    for (const Group& group : parts->groups) all.push_back(group.workload.text);
    return all;
  };
  for (const Graph& graph : {bert_layer(), model({}, cases()[3].masked)}) {
    EXPECT_EQ(texts(passed(graph)), texts(passed(graph, {"recognize_attention"})));
  }
}

TEST(SplitAttention, KeepsLargeAttentionFused) {
  const Heads small = {.length = 128, .heads = 12, .shared = 12, .width = 8};
  const Heads large = {.length = 1024, .heads = 12, .shared = 12, .width = 8};
  EXPECT_EQ(count(passed(model(small, halved)), "softmax"), 1);
  EXPECT_EQ(count(passed(model(large, halved)), "attention"), 1);
}

TEST(RecognizeAttentionNot, IfThePatternDiffers) {
  const std::vector<Masked> others = {
      // A factor behind the mask.
      [](Exported& g, ValueId x) {
        return halved(g, g.add("add", {x, g.input("m", {1, 1, 5, 5})}));
      },
      // A factor that is not a number.
      [](Exported& g, ValueId x) { return g.add("mul", {x, g.weights({1, 1, 5, 5})}); },
      // Two different values for masked scores.
      [](Exported& g, ValueId x) {
        const ValueId once = g.add("where", {causal(g, 5), x, g.number(-1)});
        return g.add("where", {g.input("m", {5}, ir::Scalar::Bool), once, g.number(-2)});
      },
      // The products are read twice.
      [](Exported& g, ValueId x) { return g.add("add", {x, g.add("tanh", {x})}); },
  };
  for (const Masked& masked : others) {
    const Graph before = model({}, masked);
    const Graph now = passed(before, {"split_attention"});
    EXPECT_EQ(count(now, "attention"), 0) << now.to_string();
    const std::vector<Constant> inputs = random_inputs(before, 5);
    EXPECT_LT(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 2e-6);
  }
  FloatPermissions exact;
  exact.reassociate = false;
  const auto now = run_passes(model({}, halved),
                              {.off = {"split_attention"}, .permissions = exact, .execute = {}});
  ASSERT_TRUE(now.has_value());
  EXPECT_EQ(count(*now, "attention"), 0);
}

TEST(RecognizeAttentionNot, IfQueriesHaveAnotherType) {
  Exported g;
  const ValueId q = g.input("q", {2, 3, 4}, ir::Scalar::F16);
  const ValueId k = g.input("k", {2, 6, 4}), v = g.input("v", {2, 6, 5});
  const ValueId scores = g.add("contract", {q, k}, {{"a", "bid"}, {"b", "bjd"}, {"out", "bij"}});
  const ValueId weights = g.add("softmax", {scores}, {{"axis", int64_t{-1}}});
  const Graph before =
      g.finish({g.add("contract", {weights, v}, {{"a", "bij"}, {"b", "bjd"}, {"out", "bid"}})});
  EXPECT_EQ(count(after(before, recognize_attention), "attention"), 0);
}

TEST(RecognizeAttentionNot, IfTheSoftmaxIsOverAnotherAxis) {
  for (const auto& [rows, found] : {std::pair(Shape{6, 6}, 1), std::pair(Shape{2, 3, 2, 3}, 0)}) {
    Exported g;
    const ValueId q = g.input("q", {2, 3, 4}), k = g.input("k", {2, 6, 4});
    const ValueId v = g.input("v", {2, 6, 5});
    const ValueId scores = g.add("contract", {q, k}, {{"a", "bid"}, {"b", "bjd"}, {"out", "bij"}});
    const ValueId weights =
        g.reshape(g.add("softmax", {g.reshape(scores, rows)}, {{"axis", int64_t{-1}}}), {2, 3, 6});
    const Graph before =
        g.finish({g.add("contract", {weights, v}, {{"a", "bij"}, {"b", "bjd"}, {"out", "bid"}})});
    const Graph now = after(before, recognize_attention);
    EXPECT_EQ(count(now, "attention"), found) << now.to_string();
    const std::vector<Constant> inputs = random_inputs(before, 5);
    EXPECT_LT(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 2e-6);
  }
}

TEST(AbsorbBroadcasts, OfAContraction) {
  Exported g;
  const ValueId x = g.input("x", {3, 4, 5});
  const ValueId y = g.input("y", {5, 1});
  const ValueId wide = g.add("broadcast", {y}, {{"shape", Shape{3, 5, 6}}});
  const ValueId sum = g.add("contract", {x, wide}, {{"a", "bik"}, {"b", "bkj"}, {"out", "bij"}});
  const ValueId tall = g.add("tile", {g.reshape(y, {1, 5, 1})}, {{"repeats", Shape{3, 1, 1}}});
  const ValueId other = g.add("contract", {tall, x}, {{"a", "bkj"}, {"b", "bik"}, {"out", "ij"}});
  const Graph before = g.finish({sum, other});
  const Graph now = after(before, absorb_broadcasts);
  EXPECT_EQ(count(now, "broadcast"), 1);  // no other operand has the letter j
  EXPECT_EQ(count(now, "tile"), 0) << now.to_string();
  const std::vector<Constant> inputs = random_inputs(before, 5);
  EXPECT_LT(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 2e-6);
}

}  // namespace
}  // namespace tilewright::graph
