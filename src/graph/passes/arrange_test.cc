// Transposes: composed, moved, absorbed.
#include "graph/passes/arrange.h"

#include <gtest/gtest.h>

#include <functional>

#include "graph/passes/absorb_transposes.h"
#include "graph/passes/cancel_transposes.h"
#include "graph/passes/channels_last.h"
#include "graph/passes/model_testing.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;
using RunPass = Result<Graph> (*)(const Graph&, const PassOptions&);

struct Case {
  std::string name;
  RunPass pass = nullptr;
  std::function<ValueId(Exported& g, ValueId x)> build;  // x: [2, 3, 4, 5]
  int transposes = 0;                                    // that are left
};

ValueId to_last(Exported& g, ValueId x) { return g.transpose(x, {0, 2, 3, 1}); }
ValueId to_first(Exported& g, ValueId x) { return g.transpose(x, {0, 3, 1, 2}); }

// x -> in channels last -> rows(.) -> back
Case between(std::string name, const std::function<ValueId(Exported&, ValueId)>& inner) {
  return {.name = std::move(name),
          .pass = absorb_transposes,
          .build = [inner](Exported& g, ValueId x) { return inner(g, to_last(g, x)); },
          .transposes = 0};
}

std::vector<Case> cancel_cases() {
  const RunPass pass = cancel_transposes;
  return {
      {"inverse", pass, [](auto& g, ValueId x) { return to_first(g, to_last(g, x)); }, 0},
      {"composed", pass, [](auto& g, ValueId x) { return to_last(g, to_last(g, x)); }, 1},
      {"of_nothing", pass, [](auto& g, ValueId x) { return g.transpose(x, {0, 1, 2, 3}); }, 0},
      {"of_ones", pass,
       [](auto& g, ValueId x) { return g.transpose(g.reshape(x, {1, 6, 1, 20}), {2, 1, 0, 3}); },
       0},
      {"of_a_constant", pass,
       [](auto& g, ValueId x) { return g.add("mul", {x, g.transpose(g.weights({5, 4}), {1, 0})}); },
       0},
      {"not_through_others", pass,
       [](auto& g, ValueId x) { return to_first(g, g.add("relu", {to_last(g, x)})); }, 2},
  };
}

std::vector<Case> move_cases() {
  const auto back = [](auto inner) {
    return [inner](Exported& g, ValueId x) { return to_first(g, inner(g, x)); };
  };
  return {
      between("relu", back([](Exported& g, ValueId x) { return g.add("relu", {x}); })),
      between("sum_of_channels",
              back([](Exported& g, ValueId x) { return g.add("add", {x, g.weights({3})}); })),
      between("sum_of_rows",
              back([](Exported& g, ValueId x) { return g.add("add", {g.weights({4, 1, 1}), x}); })),
      between("sum_of_images", back([](Exported& g, ValueId x) {
                return g.add("add", {x, g.weights({1, 4, 5, 3})});
              })),
      between("sum_with_itself",
              back([](Exported& g, ValueId x) { return g.add("add", {x, g.mean(x, {1, 2})}); })),
      between("where", back([](Exported& g, ValueId x) {
                return g.add("where", {g.add("less", {x, g.number(0)}), x, g.weights({3})});
              })),
      between("slice", back([](Exported& g, ValueId x) {
                return g.add("slice", {x},
                             {{"begin", Shape{0, 3, 1, 0}},
                              {"size", Shape{2, 2, 4, 3}},
                              {"step", Shape{1, -1, 1, 1}}});
              })),
      between("pad", back([](Exported& g, ValueId x) {
                return g.add("pad", {x, g.number(2)},
                             {{"before", Shape{0, 1, 0, 2}}, {"after", Shape{0, 0, 3, 0}}});
              })),
      between("tile", back([](Exported& g, ValueId x) {
                return g.add("tile", {x}, {{"repeats", Shape{1, 2, 1, 3}}});
              })),
      between("concat", back([](Exported& g, ValueId x) {
                return g.add("concat", {x, g.add("exp", {x})}, {{"axis", int64_t{-1}}});
              })),
      between("broadcast",
              [](Exported& g, ValueId x) {
                const ValueId wide =
                    g.add("broadcast", {g.mean(x, {3})}, {{"shape", Shape{2, 2, 4, 5, 7}}});
                return g.transpose(wide, {0, 1, 4, 2, 3});
              }),
      between("mean_kept", back([](Exported& g, ValueId x) { return g.mean(x, {3}); })),
      between("mean_dropped",
              [](Exported& g, ValueId x) { return g.transpose(g.mean(x, {2}, false), {0, 2, 1}); }),
      between("softmax", back([](Exported& g, ValueId x) {
                return g.add("softmax", {x}, {{"axis", int64_t{1}}});
              })),
      between("batch_norm", back([](Exported& g, ValueId x) {
                return g.add(
                    "batch_norm",
                    {x, g.weights({3}), g.weights({3}), g.weights({3}), g.constant({3}, {1, 2, 3})},
                    {{"epsilon", 1e-5}, {"axis", int64_t{3}}});
              })),
      between("split_and_join",
              [](Exported& g, ValueId x) {
                const ValueId rows = g.reshape(x, {2, 20, 3});
                return g.transpose(g.add("relu", {rows}), {0, 2, 1});
              }),
      between("split",
              [](Exported& g, ValueId x) {
                return g.transpose(g.reshape(x, {2, 2, 2, 5, 3}), {0, 4, 1, 2, 3});
              }),
  };
}

std::vector<Case> last_cases() {
  const RunPass pass = absorb_transposes;
  return {
      // Along the last dimension it stays.
      {"softmax_of_the_last", pass,
       [](auto& g, ValueId x) { return g.add("softmax", {to_last(g, x)}, {{"axis", int64_t{3}}}); },
       1},
      {"layer_norm", pass,
       [](auto& g, ValueId x) {
         return g.add("layer_norm", {to_last(g, x), g.weights({3})},
                      {{"axis", int64_t{3}}, {"epsilon", 1e-5}});
       },
       1},
      {"layer_norm_already_there", pass,
       [](auto& g, ValueId x) {
         const ValueId swapped = g.transpose(x, {0, 2, 1, 3});
         return g.transpose(g.add("layer_norm", {swapped, g.weights({5})},
                                  {{"axis", int64_t{3}}, {"epsilon", 1e-5}}),
                            {0, 2, 1, 3});
       },
       0},
      {"pool", pass,
       [](auto& g, ValueId x) { return to_last(g, g.max_pool(to_first(g, x), 3, 2)); }, 0},
      {"one_of_two_operands", pass,
       [](auto& g, ValueId x) { return g.add("add", {g.reshape(x, {2, 4, 5, 3}), to_last(g, x)}); },
       1},
      {"contract_left", pass,
       [](auto& g, ValueId x) {
         return g.add("contract", {g.transpose(x, {0, 2, 1, 3}), g.weights({5, 6})},
                      {{"a", "bhik"}, {"b", "kj"}, {"out", "bhij"}});
       },
       0},
      {"contract_right", pass,
       [](auto& g, ValueId x) {
         return g.add("contract", {x, g.transpose(g.add("exp", {x}), {0, 1, 3, 2})},
                      {{"a", "bhik"}, {"b", "bhkj"}, {"out", "bhij"}});
       },
       0},
      {"contract_result", pass,
       [](auto& g, ValueId x) {
         const ValueId y = g.add("contract", {x, g.weights({5, 6})},
                                 {{"a", "bhik"}, {"b", "kj"}, {"out", "bhij"}});
         return g.reshape(
             g.transpose(g.add("relu", {g.add("add", {y, g.weights({6})})}), {0, 2, 1, 3}),
             {2, 4, 18});
       },
       0},
      {"contract_of_broadcast_letters", pass,
       [](auto& g, ValueId x) {
         return g.add("contract", {g.transpose(x, {1, 0, 3, 2}), g.weights({1, 2, 4, 6})},
                      {{"a", "hbik"}, {"b", "hbkj"}, {"out", "hbij"}});
       },
       0},
  };
}

ValueId small_conv(Exported& g, ValueId x) { return g.conv_first(x, 4, {}); }

std::vector<Case> channel_cases() {
  const RunPass pass = channels_last;
  return {
      {"conv", pass, [](auto& g, ValueId x) { return small_conv(g, x); }, 2},
      {"two_convs", pass,
       [](auto& g, ValueId x) { return small_conv(g, g.add("relu", {small_conv(g, x)})); }, 2},
      {"a_flattened_image", pass,
       [](auto& g, ValueId x) { return g.classifier(g.add("relu", {small_conv(g, x)}), 3); }, 1},
      {"a_flattened_image_that_is_read", pass,
       [](auto& g, ValueId x) {
         const ValueId flat = g.reshape(small_conv(g, x), {2, 80});
         return g.add("softmax", {flat}, {{"axis", int64_t{1}}});
       },
       2},
      {"depth_to_space", pass,
       [](auto& g, ValueId x) {
         const ValueId split = g.reshape(small_conv(g, x), {2, 2, 2, 1, 4, 5});
         const ValueId image = g.reshape(g.transpose(split, {0, 3, 4, 1, 5, 2}), {2, 1, 8, 10});
         return g.mean(small_conv(g, image), {2, 3});
       },
       2},
      {"channel_shuffle", pass,
       [](auto& g, ValueId x) {
         const ValueId split = g.reshape(small_conv(g, x), {2, 2, 2, 4, 5});
         const ValueId image = g.reshape(g.transpose(split, {0, 2, 1, 3, 4}), {2, 4, 4, 5});
         return g.mean(small_conv(g, image), {2, 3});
       },
       2},
      {"one_channel", pass,
       [](auto& g, ValueId x) { return g.mean(small_conv(g, g.mean(x, {1})), {2, 3}); }, 0},
      {"attention_of_channels", pass,
       [](auto& g, ValueId x) {
         const ValueId y = small_conv(g, x);
         const ValueId gate =
             g.reshape(g.add("sigmoid", {g.reshape(g.mean(y, {2, 3}), {2, 4})}), {2, 4, 1, 1});
         return g.mean(g.add("mul", {y, gate}), {2, 3});
       },
       1},
      {"a_contraction_that_is_added_to_an_image", pass,
       [](auto& g, ValueId x) {
         const ValueId y = small_conv(g, x);
         const ValueId mixed = g.add("contract", {g.add("exp", {y}), g.weights({4, 4})},
                                     {{"a", "nchw"}, {"b", "cd"}, {"out", "ndhw"}});
         const ValueId scaled = g.add("mul", {mixed, g.weights({4, 1, 1})});
         return g.mean(small_conv(g, g.add("add", {scaled, y})), {2, 3});
       },
       1},
      {"a_contraction_before_a_convolution", pass,
       [](auto& g, ValueId x) {
         const ValueId mixed = g.add("contract", {x, g.weights({3, 4})},
                                     {{"a", "nchw"}, {"b", "cd"}, {"out", "ndhw"}});
         return g.mean(small_conv(g, g.add("relu", {mixed})), {2, 3});
       },
       0},
      {"weights_that_are_computed", pass,
       [](auto& g, ValueId x) {
         const ValueId w = g.add("exp", {g.weights({4, 3, 1, 1})});
         return g.mean(g.add("conv", {x, w}, {{"stride", Shape{1, 1}}}), {2, 3});
       },
       2},
  };
}

class Arrange : public testing::TestWithParam<Case> {};

TEST_P(Arrange, MovesTransposesAndKeepsTheResult) {
  Exported g;
  const ValueId x = g.input("x", {2, 3, 4, 5});
  const Graph before = g.finish({GetParam().build(g, x)});
  const Graph now = after(before, GetParam().pass);
  const auto counts = count_ops(now);
  EXPECT_EQ(counts.contains("transpose") ? counts.at("transpose") : 0, GetParam().transposes)
      << now.to_string();
  const std::vector<Constant> inputs = random_inputs(before, 5);
  EXPECT_LT(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 1e-6)
      << now.to_string();
}

INSTANTIATE_TEST_SUITE_P(Cancel, Arrange, testing::ValuesIn(cancel_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Move, Arrange, testing::ValuesIn(move_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Last, Arrange, testing::ValuesIn(last_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Channels, Arrange, testing::ValuesIn(channel_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(ArrangeBias, BecomesOneValuePerChannel) {
  Exported g;
  const ValueId x = g.input("x", {1, 3, 4, 5});
  const Graph now = after(g.finish({g.mean(g.conv_first(x, 6, {}), {2, 3})}), channels_last);
  for (const Node& node : now.nodes()) {
    if (node.op == "add") {
      EXPECT_EQ(now.value(node.inputs[1]).type.shape, Shape{6});
    }
  }
}

TEST(ArrangeContract, AttentionNeedsNoTransposes) {
  Exported g;
  const ValueId x = g.input("x", {1, 6, 8});
  const ValueId q = g.heads_of(g.matmul(x, 8), 2);
  const ValueId k = g.transpose(g.reshape(g.matmul(x, 8), {1, 6, 2, 4}), {0, 2, 3, 1});
  const ValueId scores = g.add("contract", {q, k}, {{"a", "bhik"}, {"b", "bhkj"}, {"out", "bhij"}});
  const ValueId context = g.add("contract", {scores, g.heads_of(x, 2)},
                                {{"a", "bhik"}, {"b", "bhkj"}, {"out", "bhij"}});
  const Graph before = g.finish({g.reshape(g.transpose(context, {0, 2, 1, 3}), {1, 6, 8})});
  const Graph now = after(before, absorb_transposes);
  std::vector<std::string> letters;
  for (const Node& node : now.nodes()) {
    EXPECT_NE(node.op, "transpose");
    if (node.op != "contract") continue;
    letters.push_back(node.attributes.text("a") + "," + node.attributes.text("b") + "->" +
                      node.attributes.text("out"));
  }
  EXPECT_EQ(letters, (std::vector<std::string>{"bik,kj->bij", "bik,kj->bij", "bihk,bjhk->bhij",
                                               "bhik,bkhj->bihj"}));
}

}  // namespace
}  // namespace tilewright::graph
