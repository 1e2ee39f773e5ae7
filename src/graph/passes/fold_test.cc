// Batch norm and factors into weights.
#include <gtest/gtest.h>

#include <functional>

#include "graph/passes/fold_batch_norm.h"
#include "graph/passes/fold_scales.h"
#include "graph/passes/model_testing.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;
using Ops = std::map<std::string, int>;

struct Case {
  std::string name;
  std::function<ValueId(Exported& g, ValueId x)> build;  // x: [1, 4, 3, 3]
  Ops left;
};

ValueId grouped_transpose(Exported& g, ValueId x) {
  return g.add("conv_transpose", {x, g.weights({4, 3, 2, 2})},
               {{"stride", Shape{2, 2}}, {"groups", int64_t{2}}});
}

std::vector<Case> norm_cases() {
  const Ops folded = {{"add", 1}, {"conv", 1}};
  return {
      {"conv", [](auto& g, ValueId x) { return g.batch_norm(g.conv_first(x, 3, {.bias = false})); },
       folded},
      {"conv_with_bias", [](auto& g, ValueId x) { return g.batch_norm(g.conv_first(x, 3, {})); },
       folded},
      {"conv_with_groups",
       [](auto& g, ValueId x) { return g.batch_norm(g.conv_first(x, 6, {.groups = 2})); }, folded},
      {"conv_channels_last",
       [](auto& g, ValueId x) {
         const ValueId y =
             g.add("conv", {x, g.weights({1, 1, 3, 5})}, {{"channels_last", int64_t{1}}});
         return g.add("mul", {y, g.weights({5})});
       },
       {{"conv", 1}}},
      {"conv_and_factor",
       [](auto& g, ValueId x) {
         return g.add("mul", {g.weights({3, 1, 1}), g.conv_first(x, 3, {})});
       },
       folded},
      {"conv_and_number",
       [](auto& g, ValueId x) { return g.add("mul", {g.conv_first(x, 3, {}), g.number(0.3)}); },
       folded},
      {"conv_and_image",
       [](auto& g, ValueId x) { return g.add("mul", {g.conv_first(x, 3, {}), g.weights({3, 3})}); },
       {{"add", 1}, {"conv", 1}, {"mul", 1}}},
      {"conv_norm_and_factor",
       [](auto& g, ValueId x) {
         return g.add("mul", {g.batch_norm(g.conv_first(x, 3, {})), g.weights({1, 3, 1, 1})});
       },
       folded},
      {"conv_transpose",
       [](auto& g, ValueId x) { return g.batch_norm(g.conv_transpose(x, 3, 2, 2, 0)); },
       {{"add", 1}, {"conv_transpose", 1}}},
      {"conv_transpose_with_groups",
       [](auto& g, ValueId x) { return g.batch_norm(grouped_transpose(g, x)); },
       {{"add", 1}, {"conv_transpose", 1}}},
      {"contract",
       [](auto& g, ValueId x) {
         const ValueId y = g.add("contract", {g.weights({5, 3}), x},
                                 {{"a", "jk"}, {"b", "bcik"}, {"out", "bcij"}});
         return g.add("mul", {g.add("add", {g.weights({5}), y}), g.weights({5})});
       },
       {{"add", 1}, {"contract", 1}}},
      {"contract_of_two_letters",
       [](auto& g, ValueId x) {
         const ValueId y = g.add("contract", {x, g.weights({2, 3, 5})},
                                 {{"a", "bcik"}, {"b", "hkj"}, {"out", "bhcij"}});
         return g.add("mul", {y, g.weights({2, 1, 1, 5})});
       },
       {{"contract", 1}}},
      {"contract_rows",
       [](auto& g, ValueId x) {
         const ValueId y = g.add("contract", {x, g.weights({3, 5})},
                                 {{"a", "bcik"}, {"b", "kj"}, {"out", "bcij"}});
         return g.add("mul", {y, g.weights({3, 1})});
       },
       {{"contract", 1}, {"mul", 1}}},
      {"before_a_conv",
       [](auto& g, ValueId x) {
         return g.conv_first(g.add("relu", {g.batch_norm(x)}), 3, {.bias = false});
       },
       {{"add", 1}, {"conv", 1}, {"mul", 1}, {"relu", 1}}},
      {"a_conv_that_others_read",
       [](auto& g, ValueId x) {
         const ValueId y = g.conv_first(x, 3, {.bias = false});
         return g.add("sub", {g.batch_norm(y), y});
       },
       {{"add", 1}, {"conv", 1}, {"mul", 1}, {"sub", 1}}},
  };
}

class FoldBatchNorm : public testing::TestWithParam<Case> {};

TEST_P(FoldBatchNorm, FoldsAndKeepsTheResult) {
  Exported g;
  const ValueId x = g.input("x", {1, 4, 3, 3});
  const Graph before = g.finish({GetParam().build(g, x)});
  const Graph now = after(before, fold_batch_norm);
  EXPECT_EQ(count_ops(now), GetParam().left) << now.to_string();
  const std::vector<Constant> inputs = random_inputs(before, 5);
  EXPECT_LT(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 1e-6)
      << now.to_string();
}

INSTANTIATE_TEST_SUITE_P(Cases, FoldBatchNorm, testing::ValuesIn(norm_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(FoldBatchNormPermission, IsRequired) {
  Exported g;
  const ValueId x = g.input("x", {1, 4, 3, 3});
  const Graph before = g.finish({g.batch_norm(g.conv_first(x, 3, {}))});
  FloatPermissions permissions;
  permissions.fold = false;
  const Graph now =
      after(before, fold_batch_norm, {.off = {}, .permissions = permissions, .execute = {}});
  EXPECT_EQ(count_ops(now).at("batch_norm"), 1);
}

TEST(FoldBatchNormPermission, NormsOfNonConstantsAreKept) {
  Exported g;
  const ValueId x = g.input("x", {1, 4, 3, 3});
  const ValueId scale = g.input("scale", {4});
  const ValueId y =
      g.add("batch_norm", {x, scale, g.weights({4}), g.weights({4}), g.constant({4}, {1, 1, 1, 1})},
            {{"epsilon", 1e-5}, {"axis", int64_t{1}}});
  EXPECT_EQ(count_ops(after(g.finish({y}), fold_batch_norm)), (Ops{{"batch_norm", 1}}));
}

TEST(FoldScales, ScaleOfAttentionFoldsIntoTheProjection) {
  Exported g;
  const ValueId x = g.input("x", {1, 6, 8});
  const ValueId q = g.heads_of(g.matmul(x, 8), 2);
  const ValueId k = g.heads_of(g.matmul(x, 8), 2);
  const ValueId scores = g.add("contract", {q, k}, {{"a", "bhik"}, {"b", "bhjk"}, {"out", "bhij"}});
  const Graph before = g.finish({g.add("mul", {scores, g.number(0.3)})});
  const Graph now = after(before, fold_scales);
  EXPECT_FALSE(count_ops(now).contains("mul")) << now.to_string();
  EXPECT_EQ(now.nodes().size(), before.nodes().size() - 1);
  const std::vector<Constant> inputs = random_inputs(before, 5);
  EXPECT_LT(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 1e-6);
}

TEST(FoldScales, KeepsScalesOfSharedProducts) {
  Exported g;
  const ValueId x = g.input("x", {1, 6, 8});
  const ValueId y = g.matmul(x, 8);
  const Graph before = g.finish({g.add("mul", {y, g.number(0.3)}), y});
  EXPECT_EQ(count_ops(after(before, fold_scales)).at("mul"), 1);
}

}  // namespace
}  // namespace tilewright::graph
