// Spellings of activations, norms and softmax.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "graph/passes/channels_last.h"
#include "graph/passes/common_subexpressions.h"
#include "graph/passes/fold_constants.h"
#include "graph/passes/model_testing.h"
#include "graph/passes/recognize_gelu.h"
#include "graph/passes/recognize_group_norm.h"
#include "graph/passes/recognize_layer_norm.h"
#include "graph/passes/recognize_silu.h"
#include "graph/passes/recognize_softmax.h"
#include "graph/passes/simplify.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;
using Ops = std::map<std::string, int>;
using RunPass = Result<Graph> (*)(const Graph&, const PassOptions&);

struct Case {
  std::string name;
  std::vector<RunPass> passes;
  std::function<ValueId(Exported& g, ValueId x)> build;  // x: [2, 3, 4]
  Ops left;
};

const double kRoot2 = std::sqrt(2.0);
const double kTanh = std::sqrt(2 / 3.14159265358979);

ValueId one_plus_erf(Exported& g, ValueId x, bool divided = true) {
  const ValueId u =
      divided ? g.add("div", {x, g.number(kRoot2)}) : g.add("mul", {g.number(1 / kRoot2), x});
  return g.add("add", {g.number(1), g.add("erf", {u})});
}

ValueId tanh_of_cubic(Exported& g, ValueId x, ValueId cube) {
  const ValueId sum = g.add("add", {x, g.add("mul", {g.number(0.044715), cube})});
  return g.add("add", {g.add("tanh", {g.add("mul", {g.number(kTanh), sum})}), g.number(1)});
}

std::vector<Case> gelu_cases() {
  const std::vector<RunPass> passes = {recognize_gelu};
  const Ops found = {{"gelu", 1}};
  return {
      {"half_last", passes,
       [](auto& g, ValueId x) {
         return g.add("mul", {g.add("mul", {x, one_plus_erf(g, x)}), g.number(0.5)});
       },
       found},
      {"half_first", passes,
       [](auto& g, ValueId x) {
         return g.add("mul", {g.add("mul", {g.number(0.5), x}), one_plus_erf(g, x)});
       },
       found},
      {"half_of_sum", passes,
       [](auto& g, ValueId x) {
         return g.add("mul", {x, g.add("mul", {g.number(0.5), one_plus_erf(g, x, false)})});
       },
       found},
      {"divided_by_two", passes,
       [](auto& g, ValueId x) {
         return g.add("div", {g.add("mul", {x, one_plus_erf(g, x)}), g.number(2)});
       },
       found},
      {"half_inside_the_sum", passes,
       [](auto& g, ValueId x) {
         const ValueId erf = g.add("erf", {g.add("div", {x, g.number(kRoot2)})});
         return g.add("mul",
                      {g.add("add", {g.add("mul", {erf, g.number(0.5)}), g.number(0.5)}), x});
       },
       found},
      {"of_a_scaled_value",
       passes,
       [](auto& g, ValueId x) {
         const ValueId y = g.add("mul", {x, g.number(3)});
         return g.add("mul", {g.add("mul", {y, one_plus_erf(g, y)}), g.number(0.5)});
       },
       {{"mul", 1}, {"gelu", 1}}},
      {"simplified_first",
       {simplify, recognize_gelu},
       [](auto& g, ValueId x) {
         return g.add("mul", {g.add("mul", {x, one_plus_erf(g, x)}), g.number(0.5)});
       },
       found},
      {"tanh_pow", passes,
       [](auto& g, ValueId x) {
         return g.add("mul", {g.add("mul", {g.number(0.5), x}),
                              tanh_of_cubic(g, x, g.add("pow", {x, g.number(3)}))});
       },
       found},
      {"tanh_products", passes,
       [](auto& g, ValueId x) {
         return g.add(
             "mul",
             {g.number(0.5),
              g.add("mul", {x, tanh_of_cubic(g, x, g.add("mul", {g.add("mul", {x, x}), x}))})});
       },
       found},
      {"tanh_fast", passes,
       [](auto& g, ValueId x) {
         const ValueId inner =
             g.add("add", {g.number(1), g.add("mul", {g.add("mul", {x, x}), g.number(0.044715)})});
         const ValueId u = g.add("mul", {g.add("mul", {x, g.number(kTanh)}), inner});
         return g.add("mul", {g.add("mul", {x, g.number(0.5)}),
                              g.add("add", {g.number(1), g.add("tanh", {u})})});
       },
       found},
      {"not_with_another_factor",
       passes,
       [](auto& g, ValueId x) {
         return g.add("mul", {g.add("mul", {x, one_plus_erf(g, x)}), g.number(0.25)});
       },
       {{"add", 1}, {"div", 1}, {"erf", 1}, {"mul", 2}}},
      {"not_of_two_values",
       passes,
       [](auto& g, ValueId x) {
         return g.add("mul",
                      {g.add("mul", {g.add("exp", {x}), one_plus_erf(g, x)}), g.number(0.5)});
       },
       {{"add", 1}, {"div", 1}, {"erf", 1}, {"exp", 1}, {"mul", 2}}},
  };
}

std::vector<Case> silu_cases() {
  const std::vector<RunPass> passes = {recognize_silu};
  return {
      {"silu",
       passes,
       [](auto& g, ValueId x) { return g.add("mul", {g.add("sigmoid", {x}), x}); },
       {{"silu", 1}}},
      {"not_silu",
       passes,
       [](auto& g, ValueId x) { return g.add("mul", {g.add("sigmoid", {g.add("neg", {x})}), x}); },
       {{"mul", 1}, {"neg", 1}, {"sigmoid", 1}}},
      {"sigmoid_spelled",
       passes,
       [](auto& g, ValueId x) {
         const ValueId e = g.add("exp", {g.add("neg", {x})});
         return g.add("mul", {x, g.add("div", {g.number(1), g.add("add", {e, g.number(1)})})});
       },
       {{"silu", 1}}},
      {"hard_swish",
       passes,
       [](auto& g, ValueId x) {
         return g.add("mul", {x, g.add("hard_sigmoid", {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}})});
       },
       {{"hard_swish", 1}}},
      {"hard_swish_spelled",
       {simplify, recognize_silu},
       [](auto& g, ValueId x) {
         const ValueId clipped =
             g.add("clip", {g.add("add", {g.number(3), x}), g.number(0), g.number(6)});
         return g.add("mul", {x, g.add("div", {clipped, g.number(6)})});
       },
       {{"hard_swish", 1}}},
      {"mish",
       passes,
       [](auto& g, ValueId x) {
         const ValueId plus = g.add("log", {g.add("add", {g.add("exp", {x}), g.number(1)})});
         return g.add("mul", {x, g.add("tanh", {plus})});
       },
       {{"mish", 1}}},
  };
}

ValueId reduce(Exported& g, const char* kind, ValueId x, int64_t axis, bool keep = true) {
  return g.add("reduce", {x},
               {{"kind", kind}, {"axes", Shape{axis}}, {"keep", int64_t{keep ? 1 : 0}}});
}

std::vector<Case> row_cases() {
  const std::vector<RunPass> softmax = {recognize_softmax};
  const std::vector<RunPass> norm = {recognize_layer_norm};
  return {
      {"softmax",
       softmax,
       [](auto& g, ValueId x) {
         const ValueId e = g.add("exp", {g.add("sub", {x, reduce(g, "max", x, 1)})});
         return g.add("div", {e, reduce(g, "sum", e, 1)});
       },
       {{"softmax", 1}}},
      {"softmax_without_maximum",
       softmax,
       [](auto& g, ValueId x) {
         const ValueId e = g.add("exp", {x});
         return g.add("mul", {g.add("reciprocal", {reduce(g, "sum", e, -1)}), e});
       },
       {{"softmax", 1}}},
      {"not_softmax_of_other_axes",
       softmax,
       [](auto& g, ValueId x) {
         const ValueId e = g.add("exp", {g.add("sub", {x, reduce(g, "max", x, 1)})});
         return g.add("div", {e, reduce(g, "sum", e, 2)});
       },
       {{"reduce", 1}, {"softmax", 1}, {"sub", 1}}},
      {"log_softmax",
       softmax,
       [](auto& g, ValueId x) {
         return g.add("log", {g.add("softmax", {x}, {{"axis", int64_t{1}}})});
       },
       {{"softmax", 1}}},
      {"log_softmax_spelled",
       softmax,
       [](auto& g, ValueId x) {
         const ValueId z = g.add("sub", {x, reduce(g, "max", x, 2)});
         return g.add("sub", {z, g.add("log", {reduce(g, "sum", g.add("exp", {z}), 2)})});
       },
       {{"softmax", 1}}},
      {"layer_norm",
       norm,
       [](auto& g, ValueId x) { return g.spelled_layer_norm(x); },
       {{"layer_norm", 1}}},
      {"layer_norm_of_two_dimensions",
       {simplify, recognize_layer_norm},
       [](auto& g, ValueId x) {
         const ValueId centered = g.add("sub", {x, g.mean(x, {1, 2})});
         const ValueId variance = g.mean(g.add("pow", {centered, g.number(2)}), {1, 2});
         const ValueId root = g.add("sqrt", {g.add("add", {g.number(1e-5), variance})});
         return g.add("mul", {g.weights({1, 3, 4}), g.add("div", {centered, root})});
       },
       {{"layer_norm", 1}}},
      {"layer_norm_of_two_differences",
       {common_subexpressions, recognize_layer_norm},
       [](auto& g, ValueId x) {
         const ValueId average = g.mean(x, {2});
         const ValueId square = g.add("pow", {g.add("sub", {x, average}), g.number(2)});
         const ValueId root = g.add("sqrt", {g.add("add", {g.mean(square, {2}), g.number(1e-5)})});
         return g.add("div", {g.add("sub", {x, average}), root});
       },
       {{"layer_norm", 1}}},
      {"rms_norm",
       {simplify, recognize_layer_norm},
       [](auto& g, ValueId x) { return g.spelled_rms_norm(x); },
       {{"rms_norm", 1}}},
      {"rms_norm_divided",
       norm,
       [](auto& g, ValueId x) {
         const ValueId power = g.mean(g.add("mul", {x, x}), {2});
         return g.add("div", {x, g.add("sqrt", {g.add("add", {power, g.number(1e-6)})})});
       },
       {{"rms_norm", 1}}},
      {"not_layer_norm_of_other_dimensions",
       norm,
       [](auto& g, ValueId x) {
         const ValueId power = g.mean(g.add("mul", {x, x}), {1});
         return g.add("div", {x, g.add("sqrt", {g.add("add", {power, g.number(1e-6)})})});
       },
       {{"add", 1}, {"div", 1}, {"mul", 1}, {"reduce", 1}, {"sqrt", 1}}},
      {"a_factor_that_is_no_scale",
       norm,
       [](auto& g, ValueId x) {
         const ValueId normed = g.add("layer_norm", {x}, {{"axis", int64_t{2}}, {"epsilon", 1e-5}});
         return g.add("mul", {normed, g.weights({3, 1})});
       },
       {{"layer_norm", 1}, {"mul", 1}}},
      {"a_norm_that_others_read",
       norm,
       [](auto& g, ValueId x) {
         const ValueId normed = g.add("layer_norm", {x}, {{"axis", int64_t{2}}, {"epsilon", 1e-5}});
         return g.add("sub", {g.add("mul", {normed, g.weights({4})}), normed});
       },
       {{"layer_norm", 1}, {"mul", 1}, {"sub", 1}}},
  };
}

class Recognize : public testing::TestWithParam<Case> {};

TEST_P(Recognize, ReplacesThePatternAndKeepsTheResult) {
  Exported g;
  const ValueId x = g.input("x", {2, 3, 4});
  const Graph before = g.finish({GetParam().build(g, x)});
  Graph now = before;
  for (const RunPass pass : GetParam().passes) now = after(now, pass);
  EXPECT_EQ(count_ops(now), GetParam().left) << now.to_string();
  const std::vector<Constant> inputs = random_inputs(before, 5);
  EXPECT_LT(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 2e-6)
      << now.to_string();
}

INSTANTIATE_TEST_SUITE_P(Gelu, Recognize, testing::ValuesIn(gelu_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Silu, Recognize, testing::ValuesIn(silu_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Rows, Recognize, testing::ValuesIn(row_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(RecognizeLayerNorm, OverChannelsInAModelWithConvolutions) {
  Exported g;
  const ValueId x = g.conv_first(g.input("x", {2, 3, 4, 5}), 6, {});
  const ValueId centered = g.add("sub", {x, g.mean(x, {1})});
  const ValueId variance = g.mean(g.add("mul", {centered, centered}), {1});
  const ValueId root = g.add("sqrt", {g.add("add", {variance, g.number(1e-6)})});
  const ValueId scaled = g.add("mul", {g.weights({6, 1, 1}), g.add("div", {centered, root})});
  const ValueId y = g.add("add", {scaled, g.weights({1, 6, 1, 1})});
  const Graph before = g.finish({g.mean(g.conv_first(y, 2, {}), {2, 3})});
  const Graph now = after(before, recognize_layer_norm);
  EXPECT_EQ(count_ops(now),
            (Ops{{"add", 2}, {"conv", 2}, {"layer_norm", 1}, {"reduce", 1}, {"transpose", 2}}))
      << now.to_string();
  const Graph last = after(now, channels_last);
  EXPECT_EQ(count_ops(last).at("transpose"), 1) << last.to_string();
  const std::vector<Constant> inputs = random_inputs(before, 5);
  const std::vector<Constant> outputs = evaluate_graph(before, inputs);
  EXPECT_LT(largest_error(outputs, evaluate_graph(now, inputs)), 2e-6);
  EXPECT_LT(largest_error(outputs, evaluate_graph(last, inputs)), 2e-6);
}

TEST(RecognizeGroupNorm, AnInstanceNormBetweenReshapes) {
  for (const bool plain : {true, false}) {
    Exported g;
    const ValueId x = g.input("x", {2, 6, 3, 2});
    const ValueId ones = g.constant({2}, {1, plain ? 1.0 : 2.0});
    const ValueId normed =
        g.add("group_norm", {g.reshape(x, {2, 2, 18}), ones, g.constant({2}, {0, 0})},
              {{"groups", int64_t{2}}, {"epsilon", 1e-5}, {"axis", int64_t{1}}});
    const ValueId back = g.reshape(normed, {2, 6, 3, 2});
    const ValueId scaled = g.add("mul", {back, g.weights({6, 1, 1})});
    const Graph before = g.finish({g.add("add", {g.weights({1, 6, 1, 1}), scaled})});
    const Graph now = after(before, recognize_group_norm);
    EXPECT_EQ(count_ops(now).contains("reshape"), !plain) << now.to_string();
    EXPECT_EQ(now.nodes().size(), plain ? 1U : before.nodes().size());
    const std::vector<Constant> inputs = random_inputs(before, 5);
    EXPECT_LT(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 1e-6);
  }
}

TEST(RecognizeCasts, AnRmsNormOfHalfPrecisionNeedsNoCasts) {
  Exported g;
  const ValueId x = g.input("x", {2, 8}, ir::Scalar::F16);
  const ValueId wide = g.add("cast", {x}, {{"to", "f32"}});
  const ValueId power = g.mean(g.add("mul", {wide, wide}), {1});
  const ValueId inverse = g.add("rsqrt", {g.add("add", {power, g.number(1e-6)})});
  const ValueId normed = g.add("cast", {g.add("mul", {wide, inverse})}, {{"to", "f16"}});
  const ValueId w = g.add("cast", {g.weights({8})}, {{"to", "f16"}});
  const Graph before = g.finish({g.add("mul", {w, normed})});
  const Graph now = after(after(before, fold_constants), recognize_layer_norm);
  EXPECT_EQ(count_ops(now), (Ops{{"rms_norm", 1}})) << now.to_string();
  const std::vector<Constant> inputs = random_inputs(before, 5);
  EXPECT_LT(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 2e-3);
}

}  // namespace
}  // namespace tilewright::graph
