// All passes on small models: each alone, all together, and all except each one.
#include "graph/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "graph/passes/arrange.h"
#include "graph/passes/model_testing.h"

namespace tilewright::graph {
namespace {

constexpr double kTolerance = 1e-5;

class PassesOnModels : public testing::TestWithParam<TestModel> {
 protected:
  void expect_same(const Graph& changed, const std::string& what) const {
    const std::vector<Constant> inputs = random_inputs(GetParam().graph, 3);
    const std::vector<Constant> before = evaluate_graph(GetParam().graph, inputs);
    EXPECT_LT(largest_error(before, evaluate_graph(changed, inputs)), kTolerance)
        << what << "\n"
        << changed.to_string();
  }
};

TEST_P(PassesOnModels, EachAloneKeepsTheResult) {
  std::set<std::string_view> seen;
  for (const Pass& pass : all_passes()) {
    if (seen.insert(pass.name).second) {
      expect_same(after(GetParam().graph, pass.run), std::string(pass.name));
    }
  }
}

TEST_P(PassesOnModels, AllKeepTheResult) {
  const auto changed = run_passes(GetParam().graph, {});
  ASSERT_TRUE(changed.has_value()) << changed.error().message;
  expect_same(*changed, "all passes");
  EXPECT_EQ(changed->output_names().size(), GetParam().graph.outputs().size());
}

TEST_P(PassesOnModels, AllButOneKeepTheResult) {
  std::set<std::string_view> seen;
  for (const Pass& pass : all_passes()) {
    if (!seen.insert(pass.name).second) continue;
    const auto changed = run_passes(
        GetParam().graph, {.off = {std::string(pass.name)}, .permissions = {}, .execute = {}});
    ASSERT_TRUE(changed.has_value()) << pass.name << ": " << changed.error().message;
    expect_same(*changed, "without " + std::string(pass.name));
  }
}

TEST_P(PassesOnModels, WithoutPermissionsKeepTheResult) {
  const FloatPermissions none{.reassociate = false,
                              .contract = false,
                              .approximate = false,
                              .fold = false,
                              .online_softmax = false,
                              .winograd = false,
                              .reduced_precision = false};
  const auto changed =
      run_passes(GetParam().graph, {.off = {}, .permissions = none, .execute = {}});
  ASSERT_TRUE(changed.has_value()) << changed.error().message;
  expect_same(*changed, "no permissions");
}

TEST_P(PassesOnModels, AreIdempotent) {
  const auto once = run_passes(GetParam().graph, {});
  ASSERT_TRUE(once.has_value());
  const auto twice = run_passes(*once, {});
  ASSERT_TRUE(twice.has_value()) << twice.error().message;
  EXPECT_EQ(count_ops(*once), count_ops(*twice));
}

INSTANTIATE_TEST_SUITE_P(Models, PassesOnModels, testing::ValuesIn(test_models()),
                         [](const auto& info) { return info.param.name; });

Graph optimized(const Graph& graph) {
  const auto changed = run_passes(graph, {});
  EXPECT_TRUE(changed.has_value()) << changed.error().message;
  return changed ? *changed : Graph();
}

// The nodes of the result that move data, except one at the input.
int transposes(const Graph& graph) {
  const auto counts = count_ops(graph);
  return counts.contains("transpose") ? counts.at("transpose") : 0;
}

TEST(Passes, KeepOneTransposeInImageModels) {
  for (const Graph& graph : {resnet_block(), densenet_block(), mobilenet_block(), squeezenet_fire(),
                             vgg_head(), video_block()}) {
    const Graph now = optimized(graph);
    EXPECT_EQ(transposes(now), 1) << now.to_string();
    EXPECT_EQ(now.node(0).op, "transpose") << now.to_string();
    EXPECT_EQ(now.node(0).inputs[0], now.inputs()[0]);
    for (const Node& node : now.nodes()) {
      if (node.op == "conv" || node.op == "pool") {
        EXPECT_EQ(node.attributes.integer("channels_last", 0), 1);
      }
      EXPECT_NE(node.op, "batch_norm");
    }
  }
}

TEST(Passes, GeneratorTransposesItsImageAtTheEnd) {
  const Graph now = optimized(dcgan_generator());
  EXPECT_EQ(transposes(now), 1) << now.to_string();
  EXPECT_EQ(now.nodes().back().op, "transpose");
  const auto counts = count_ops(now);
  EXPECT_EQ(counts.at("conv_transpose"), 3);
  EXPECT_EQ(counts.at("add"), 2);  // of the batch norms
  EXPECT_FALSE(counts.contains("mul"));
}

TEST(Passes, RemoveTransposesOfTransformers) {
  for (const Graph& graph : {bert_layer(), llama_layer(), vit_stem()}) {
    const Graph now = optimized(graph);
    const int at_the_image = count_ops(now).contains("conv") ? 1 : 0;
    EXPECT_EQ(transposes(now), at_the_image) << now.to_string();
  }
}

TEST(Passes, ReduceABertLayer) {
  const auto counts = count_ops(optimized(bert_layer()));
  const std::map<std::string, int> wanted = {{"contract", 8}, {"add", 9},     {"softmax", 1},
                                             {"gelu", 1},     {"reshape", 5}, {"layer_norm", 2},
                                             {"where", 1}};
  EXPECT_EQ(counts, wanted);
}

TEST(Passes, ARequestedStopIsAnError) {
  const StopSource stop;
  EXPECT_TRUE(run_passes(bert_layer(), {.stop = stop.token()}).has_value());
  stop.request();
  EXPECT_EQ(run_passes(bert_layer(), {.stop = stop.token()}).error().message, "stopped");
}

TEST(Passes, AnUnknownNameIsAnErrorThatListsThem) {
  const auto result =
      run_passes(bert_layer(), {.off = {"fold_everything"}, .permissions = {}, .execute = {}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(result.error().message, testing::HasSubstr("no pass 'fold_everything'"));
  EXPECT_THAT(result.error().message, testing::HasSubstr("channels_last"));
}

}  // namespace
}  // namespace tilewright::graph
