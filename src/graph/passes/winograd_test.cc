// The convolutions that the pass transforms, their results, and the resulting kernels.
#include "graph/passes/winograd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "graph/partition.h"
#include "graph/passes/model_testing.h"
#include "graph/separate_outputs.h"
#include "task/parse.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;
using Ops = std::map<std::string, int>;

PassOptions allowed() {
  PassOptions options;
  options.permissions.winograd = true;
  return options;
}

struct Conv {
  Shape x = {1, 16, 16, 64};
  int64_t co = 64, kernel = 3, stride = 1, dilation = 1, groups = 1, pad = 1, pad_end = 1;
};

Attributes attributes(const Conv& conv) {
  return {{"stride", Shape(2, conv.stride)}, {"dilation", Shape(2, conv.dilation)},
          {"pad_begin", Shape(2, conv.pad)}, {"pad_end", Shape(2, conv.pad_end)},
          {"groups", conv.groups},           {"channels_last", int64_t{1}}};
}

Graph graph_of(const Conv& conv) {
  Exported g;
  const ValueId x = g.input("x", conv.x);
  const ValueId w = g.weights({conv.kernel, conv.kernel, conv.x[3] / conv.groups, conv.co});
  return g.finish({g.add("conv", {x, w}, attributes(conv))});
}

// The side of the output tiles of the first such node; 0: there is none.
int64_t tile_of(const Graph& graph, const PassOptions& options = allowed()) {
  const Graph now = after(graph, winograd, options);
  for (const Node& node : now.nodes()) {
    if (node.op == "conv_winograd") return now.value(node.inputs[1]).type.shape[0] - 2;
  }
  return 0;
}

bool is_taken(const Graph& graph, const PassOptions& options = allowed()) {
  return tile_of(graph, options) != 0;
}

TEST(Winograd, AppliesIfPossibleAndProfitable) {
  EXPECT_TRUE(is_taken(graph_of({})));
  EXPECT_TRUE(is_taken(graph_of({.x = {1, 18, 18, 64}, .pad = 0, .pad_end = 0})));
  EXPECT_TRUE(is_taken(graph_of({.x = {4, 8, 8, 64}})));  // tiles of all images read the weights
  EXPECT_TRUE(is_taken(graph_of({.x = {1, 55, 55, 64}})));
  EXPECT_TRUE(is_taken(graph_of({.x = {1, 14, 14, 256}, .co = 256})));
}

TEST(Winograd, ChoosesTheTile) {
  struct Case {
    Conv conv;
    int64_t tile;
  };
  const Case cases[] = {
      {{.x = {1, 56, 56, 64}}, 4},
      {{.x = {1, 56, 56, 256}, .co = 256}, 4},  // from memory
      {{.x = {1, 14, 14, 256}, .co = 256}, 4},
      {{.x = {1, 10, 10, 256}, .co = 256}, 2},  // 9 tiles of 16 have 44 outputs too many, 25 none
      {{.x = {1, 8, 8, 256}, .co = 256}, 2},    // 36 weights for each pair of channels, or 16
      {{.x = {1, 6, 6, 512}, .co = 512}, 2},    // 4x4: four tiles for 36 outputs
      {{.x = {1, 7, 7, 512}, .co = 512}, 0},    // 15 of 64 outputs are for nothing with either
      {{.x = {4, 7, 7, 512}, .co = 512}, 4},    // weights are read for four images
      {{.x = {1, 8, 8, 64}}, 0},                // transforms of few channels
  };
  for (const Case& one : cases) {
    EXPECT_EQ(tile_of(graph_of(one.conv)), one.tile) << graph_of(one.conv).to_string();
  }
}

TEST(Winograd, OtherConvolutionsAreUnchanged) {
  const Conv cases[] = {
      {.stride = 2},
      {.dilation = 2},
      {.groups = 2},
      {.kernel = 5},
      {.kernel = 1},
      {.pad_end = 2},
      {.x = {1, 16, 16, 8}},             // sums too short
      {.co = 8},                         // too few results of a transformed input
      {.x = {1, 8, 8, 64}},              // a tile or so for each weight
      {.x = {1, 1, 256, 64}},            // three of four rows of a tile are for nothing
      {.x = {1, 7, 7, 512}, .co = 512},  // weights from memory
  };
  for (const Conv& conv : cases) {
    const Graph graph = graph_of(conv);
    EXPECT_FALSE(is_taken(graph)) << graph.to_string();
  }
}

TEST(Winograd, RequiresThePermissionAndConstantWeights) {
  EXPECT_FALSE(is_taken(graph_of({}), {}));
  {
    Exported g;
    const ValueId x = g.input("x", {1, 16, 16, 64}), w = g.input("w", {3, 3, 64, 64});
    EXPECT_FALSE(is_taken(g.finish({g.add("conv", {x, w}, attributes({}))})));
  }
  {
    Exported g;
    std::vector<double> numbers(size_t{3} * 3 * 64 * 64, 1);
    numbers[7] = std::numeric_limits<double>::infinity();
    const ValueId x = g.input("x", {1, 16, 16, 64}), w = g.constant({3, 3, 64, 64}, numbers);
    EXPECT_FALSE(is_taken(g.finish({g.add("conv", {x, w}, attributes({}))})));
  }
  {
    Exported g;  // channels first: channels_last has been left out
    const ValueId x = g.input("x", {1, 64, 16, 16});
    EXPECT_FALSE(is_taken(g.finish({g.conv_first(x, 64, {})})));
  }
}

TEST(Winograd, KeepsTheResultWithinItsTolerance) {
  const Graph graph = graph_of({.x = {2, 14, 14, 64}, .pad = 0, .pad_end = 0});
  const Graph now = after(graph, winograd, allowed());
  ASSERT_EQ(count_ops(now), (Ops{{"conv_winograd", 1}}));
  const std::vector<Constant> inputs = random_inputs(graph, 5);
  EXPECT_LT(largest_error(evaluate_graph(graph, inputs), evaluate_graph(now, inputs)), 1e-5);
}

TEST(Winograd, ComputesTheSameWithSmallTiles) {
  const Graph graph = graph_of({.x = {1, 10, 10, 128}, .co = 128});
  const Graph now = after(graph, winograd, allowed());
  ASSERT_EQ(tile_of(graph), 2);
  const std::vector<Constant> inputs = random_inputs(graph, 5);
  EXPECT_LT(largest_error(evaluate_graph(graph, inputs), evaluate_graph(now, inputs)), 1e-5);
}

TEST(Winograd, SharedWeightsAreTransformedOnce) {
  Exported g;
  const ValueId x = g.input("x", {1, 16, 16, 64}), w = g.weights({3, 3, 64, 64});
  const ValueId once = g.add("conv", {x, w}, attributes({}));
  const Graph now =
      after(g.finish({g.add("conv", {once, w}, attributes({}))}), winograd, allowed());
  ASSERT_EQ(now.nodes().size(), 2U);
  EXPECT_EQ(now.node(0).inputs[1], now.node(1).inputs[1]);
  EXPECT_EQ(now.value(now.node(0).inputs[1]).type.shape, (Shape{6, 6, 64, 64}));
}

TEST(Winograd, WeightsAreTransformedOncePerTile) {
  Exported g;
  const ValueId w = g.weights({3, 3, 256, 256});
  const ValueId large = g.add("conv", {g.input("x", {1, 14, 14, 256}), w}, attributes({}));
  const ValueId small = g.add("conv", {g.input("y", {1, 10, 10, 256}), w}, attributes({}));
  const Graph now = after(g.finish({large, small}), winograd, allowed());
  ASSERT_EQ(now.nodes().size(), 2U);
  EXPECT_EQ(now.value(now.node(0).inputs[1]).type.shape, (Shape{6, 6, 256, 256}));
  EXPECT_EQ(now.value(now.node(1).inputs[1]).type.shape, (Shape{4, 4, 256, 256}));
}

// x = stem(image), relu(norm(conv(relu(norm(conv(x))))) + x), then a convolution of stride 2.
Graph model() {
  Exported g;
  const ValueId x = g.conv_first(g.input("image", {1, 3, 16, 16}), 64, {.kernel = 1});
  const ValueId first = g.add("relu", {g.batch_norm(g.conv_first(x, 64, {}))});
  const ValueId second = g.batch_norm(g.conv_first(first, 64, {.bias = false}));
  const ValueId sum = g.add("relu", {g.add("add", {second, x})});
  return g.finish({g.conv_first(sum, 16, {.stride = 2})});
}

Graph passed(const PassOptions& options) {
  const auto graph = run_passes(model(), options);
  EXPECT_TRUE(graph.has_value()) << graph.error().message;
  return *graph;
}

TEST(Winograd, RunsAfterTheOtherPasses) {
  const Graph now = passed(allowed());
  EXPECT_EQ(count_ops(now).at("conv_winograd"), 2) << now.to_string();
  EXPECT_EQ(count_ops(now).at("conv"), 2);
  const auto twice = run_passes(now, allowed());
  ASSERT_TRUE(twice.has_value()) << twice.error().message;
  EXPECT_EQ(count_ops(now), count_ops(*twice));
  PassOptions off = allowed();
  off.off = {"winograd"};
  EXPECT_EQ(count_ops(passed(off)), count_ops(passed({})));
}

std::vector<Group> groups_of(const PassOptions& options) {
  const auto separate = separate_outputs(passed(options));
  EXPECT_TRUE(separate.has_value());
  PartitionOptions with;
  with.permissions = options.permissions;
  auto parts = partition(*separate, with);
  EXPECT_TRUE(parts.has_value()) << parts.error().message;
  return std::move(parts->groups);
}

TEST(Winograd, KernelsFuseTheirEpilogues) {
  std::vector<std::string> titles;
  for (const Group& group : groups_of(allowed())) titles.push_back(group.title);
  EXPECT_THAT(titles, testing::IsSupersetOf({"conv2d 3x3 64->64 by winograd + add + relu",
                                             "conv2d 3x3 64->64 by winograd + add + add + relu",
                                             "conv2d 3x3 64->16 s2 + add"}));
}

TEST(Winograd, OnlyItsKernelsHaveThePermission) {
  std::set<Hash128> plain;
  for (const Group& group : groups_of({})) plain.insert(group.workload.key());
  for (const Group& group : groups_of(allowed())) {
    const bool by_winograd = group.title.contains("by winograd");
    EXPECT_EQ(group.workload.permissions.winograd, by_winograd) << group.title;
    EXPECT_EQ(plain.contains(group.workload.key()), !by_winograd) << group.title;
    const auto again = parse_workload(group.workload.text);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(again->key(), group.workload.key()) << group.title;
  }
}

}  // namespace
}  // namespace tilewright::graph
