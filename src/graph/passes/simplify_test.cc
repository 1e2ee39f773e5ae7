#include "graph/passes/simplify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "graph/op_table.h"
#include "graph/passes/common_subexpressions.h"
#include "graph/passes/constant_math.h"
#include "graph/passes/dead_code.h"
#include "graph/passes/fold_constants.h"
#include "graph/passes/model_testing.h"

namespace tilewright::graph {
namespace {

using Shape = std::vector<int64_t>;
using Ops = std::map<std::string, int>;

const FloatPermissions kExact{.reassociate = false,
                              .contract = true,
                              .approximate = true,
                              .fold = false,
                              .online_softmax = true,
                              .winograd = false,
                              .reduced_precision = false};

struct Case {
  std::string name;
  std::function<ValueId(Exported& g, ValueId x)> build;  // x: [2, 3, 4]
  Ops left;                                              // operators that remain
  FloatPermissions permissions = {};
};

std::vector<Case> cases() {
  const double inf = std::numeric_limits<double>::infinity();
  return {
      {"add_zero", [](auto& g, ValueId x) { return g.add("add", {x, g.number(0)}); }, {}},
      {"a_bias_of_zeros",
       [](auto& g, ValueId x) { return g.add("add", {g.constant({4}, {0, 0, 0, 0}), x}); },
       {{"add", 1}}},
      {"zero_that_broadcasts",
       [](auto& g, ValueId x) {
         return g.add("add", {x, g.constant({5, 1, 1, 1}, {0, 0, 0, 0, 0})});
       },
       {{"add", 1}}},
      {"zero_with_a_rank",
       [](auto& g, ValueId x) { return g.add("add", {x, g.constant({1, 1, 1, 1}, {0})}); },
       {{"reshape", 1}}},
      {"mul_one", [](auto& g, ValueId x) { return g.add("mul", {g.number(1), x}); }, {}},
      {"sub_zero", [](auto& g, ValueId x) { return g.add("sub", {x, g.number(0)}); }, {}},
      {"sub_constant",
       [](auto& g, ValueId x) { return g.add("sub", {x, g.number(2)}); },
       {{"add", 1}}},
      {"zero_minus",
       [](auto& g, ValueId x) { return g.add("sub", {g.number(0), x}); },
       {{"sub", 1}}},
      {"div_one", [](auto& g, ValueId x) { return g.add("div", {x, g.number(1)}); }, {}},
      {"div_four",
       [](auto& g, ValueId x) { return g.add("div", {x, g.number(4)}); },
       {{"mul", 1}},
       kExact},
      {"div_three",
       [](auto& g, ValueId x) { return g.add("div", {x, g.number(3)}); },
       {{"mul", 1}}},
      {"div_three_exact",
       [](auto& g, ValueId x) { return g.add("div", {x, g.number(3)}); },
       {{"div", 1}},
       kExact},
      {"div_of_one",
       [](auto& g, ValueId x) { return g.add("div", {g.number(1), x}); },
       {{"reciprocal", 1}}},
      {"pow_2", [](auto& g, ValueId x) { return g.add("pow", {x, g.number(2)}); }, {{"mul", 1}}},
      {"pow_3", [](auto& g, ValueId x) { return g.add("pow", {x, g.number(3)}); }, {{"mul", 2}}},
      {"pow_1", [](auto& g, ValueId x) { return g.add("pow", {x, g.number(1)}); }, {}},
      {"pow_half",
       [](auto& g, ValueId x) { return g.add("pow", {g.add("abs", {x}), g.number(0.5)}); },
       {{"abs", 1}, {"sqrt", 1}}},
      {"two_sums",
       [](auto& g, ValueId x) {
         return g.add("add", {g.number(2), g.add("add", {x, g.weights({4})})});
       },
       {{"add", 1}}},
      {"two_sums_exact",
       [](auto& g, ValueId x) {
         return g.add("add", {g.number(2), g.add("add", {x, g.weights({4})})});
       },
       {{"add", 2}},
       kExact},
      {"two_products",
       [](auto& g, ValueId x) {
         return g.add("mul", {g.add("mul", {x, g.weights({4})}), g.weights({1, 4})});
       },
       {{"mul", 1}}},
      {"a_product_that_would_grow",
       [](auto& g, ValueId x) {
         return g.add("mul", {g.add("mul", {x, g.weights({4})}), g.weights({3, 1})});
       },
       {{"mul", 2}}},
      {"relu_of_clip",
       [=](auto& g, ValueId x) { return g.add("clip", {x, g.number(0), g.number(inf)}); },
       {{"relu", 1}}},
      {"clip_of_nothing",
       [=](auto& g, ValueId x) { return g.add("clip", {x, g.number(-inf), kNone}); },
       {}},
      {"relu6",
       [](auto& g, ValueId x) {
         return g.add("min", {g.add("max", {x, g.number(0)}), g.number(6)});
       },
       {{"clip", 1}}},
      {"relu_twice",
       [](auto& g, ValueId x) { return g.add("relu", {g.add("relu", {x})}); },
       {{"relu", 1}}},
      {"neg_twice", [](auto& g, ValueId x) { return g.add("neg", {g.add("neg", {x})}); }, {}},
      {"cast_to_itself",
       [](auto& g, ValueId x) { return g.add("cast", {x}, {{"to", "f32"}}); },
       {}},
      {"cast_and_back",
       [](auto& g, ValueId x) {
         return g.add("cast", {g.add("cast", {x}, {{"to", "f64"}})}, {{"to", "f32"}});
       },
       {}},
      {"cast_that_rounds",
       [](auto& g, ValueId x) {
         return g.add("cast", {g.add("cast", {x}, {{"to", "f16"}})}, {{"to", "f32"}});
       },
       {{"cast", 2}}},
      {"cast_to_a_wider_unsigned_type_and_back",
       [](auto& g, ValueId x) {
         const ValueId byte = g.add("cast", {x}, {{"to", "u8"}});
         return g.add("cast", {g.add("cast", {byte}, {{"to", "u16"}})}, {{"to", "u8"}});
       },
       {{"cast", 1}}},
      {"cast_that_drops_the_sign",
       [](auto& g, ValueId x) {
         const ValueId byte = g.add("cast", {x}, {{"to", "i8"}});
         return g.add("cast", {g.add("cast", {byte}, {{"to", "u16"}})}, {{"to", "i32"}});
       },
       {{"cast", 3}}},
      {"reshape_twice",
       [](auto& g, ValueId x) { return g.reshape(g.reshape(x, {6, 4}), {3, 8}); },
       {{"reshape", 1}}},
      {"reshape_and_back",
       [](auto& g, ValueId x) { return g.reshape(g.reshape(x, {6, 4}), {2, 3, 4}); },
       {}},
      {"slice_of_all",
       [](auto& g, ValueId x) { return g.add("slice", {x}, {{"size", Shape{2, 3, 4}}}); },
       {}},
      {"reversed",
       [](auto& g, ValueId x) {
         return g.add(
             "slice", {x},
             {{"begin", Shape{0, 0, 3}}, {"size", Shape{2, 3, 4}}, {"step", Shape{1, 1, -1}}});
       },
       {{"slice", 1}}},
      {"slice_of_slice",
       [](auto& g, ValueId x) {
         const ValueId odd =
             g.add("slice", {x},
                   {{"begin", Shape{0, 0, 1}}, {"size", Shape{2, 3, 2}}, {"step", Shape{1, 1, 2}}});
         return g.add(
             "slice", {odd},
             {{"begin", Shape{1, 1, 1}}, {"size", Shape{1, 2, 2}}, {"step", Shape{1, 1, -1}}});
       },
       {{"slice", 1}}},
      {"parts_of_a_row",
       [](auto& g, ValueId x) {
         const ValueId row =
             g.add("slice", {x}, {{"begin", Shape{1, 0, 0}}, {"size", Shape{1, 3, 4}}});
         const auto part = [&](int64_t from) {
           return g.add("slice", {row}, {{"begin", Shape{0, 0, from}}, {"size", Shape{1, 3, 2}}});
         };
         return g.add("mul", {part(0), part(2)});
       },
       {{"slice", 3}, {"mul", 1}}},
      {"concat_of_one",
       [](auto& g, ValueId x) { return g.add("concat", {x}, {{"axis", int64_t{1}}}); },
       {}},
      {"pad_by_nothing",
       [](auto& g, ValueId x) {
         return g.add("pad", {x}, {{"before", Shape{0, 0, 0}}, {"after", Shape{0, 0, 0}}});
       },
       {}},
      {"gather_one",
       [](auto& g, ValueId x) {
         return g.add("gather", {x, g.integers({}, {-1})}, {{"axis", int64_t{1}}});
       },
       {{"slice", 1}, {"reshape", 1}}},
      {"gather_every_second",
       [](auto& g, ValueId x) {
         return g.add("gather", {x, g.integers({2}, {1, 3})}, {{"axis", int64_t{2}}});
       },
       {{"slice", 1}}},
      {"gather_any",
       [](auto& g, ValueId x) {
         return g.add("gather", {x, g.integers({3}, {1, 3, 0})}, {{"axis", int64_t{2}}});
       },
       {{"gather", 1}}},
      {"where_true",
       [](auto& g, ValueId x) {
         return g.add("where", {g.add("less", {g.number(0), g.number(1)}), x, g.number(2)});
       },
       {}},
      {"mean_of_one",
       [](auto& g, ValueId x) { return g.mean(g.reshape(x, {2, 1, 12}), {1}, false); },
       {{"reshape", 1}}},
      {"broadcast_that_the_sum_does",
       [](auto& g, ValueId x) {
         return g.add("add",
                      {x, g.add("broadcast", {g.mean(x, {0})}, {{"shape", Shape{2, 3, 4}}})});
       },
       {{"add", 1}, {"reduce", 1}}},
      {"broadcast_behind",
       [](auto& g, ValueId x) {
         const ValueId wide = g.add("broadcast", {g.mean(x, {0})}, {{"shape", Shape{2, 3, 4}}});
         return g.add("add", {x, g.add("exp", {wide})});
       },
       {{"add", 1}, {"exp", 1}, {"reduce", 1}}},
  };
}

class Simplify : public testing::TestWithParam<Case> {};

TEST_P(Simplify, KeepsNecessaryNodes) {
  Exported g;
  const ValueId x = g.input("x", {2, 3, 4});
  const Graph before = g.finish({GetParam().build(g, x)});
  const PassOptions options{.off = {}, .permissions = GetParam().permissions, .execute = {}};
  const Graph folded = after(before, fold_constants, options);
  const Graph now = after(folded, simplify, options);
  EXPECT_EQ(count_ops(now), GetParam().left) << now.to_string();
  const std::vector<Constant> inputs = random_inputs(before, 5);
  EXPECT_LT(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 1e-6)
      << now.to_string();
}

INSTANTIATE_TEST_SUITE_P(Cases, Simplify, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST(SimplifyWindows, ZeroPadFoldsIntoTheConvolution) {
  for (const bool zeros : {true, false}) {
    Exported g;
    const ValueId x = g.input("x", {1, 2, 4, 4});
    const ValueId padded = g.add("pad", {x, g.number(zeros ? 0 : 1)},
                                 {{"before", Shape{0, 0, 1, 0}}, {"after", Shape{0, 0, 0, 2}}});
    const Graph before = g.finish({g.conv_first(padded, 3, {.bias = false})});
    const Graph now = after(before, simplify);
    EXPECT_EQ(count_ops(now).contains("pad"), !zeros);
    const std::vector<Constant> inputs = random_inputs(before, 5);
    EXPECT_LT(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 1e-6);
    if (zeros) {
      EXPECT_EQ(now.node(0).attributes.list("pad_end"), (Shape{1, 3}));
    }
  }
}

TEST(SimplifyLogic, AndWithTrueIsABroadcast) {
  Exported g;
  const ValueId mask = g.input("mask", {1, 4}, ir::Scalar::Bool);
  const ValueId x = g.input("x", {3, 4});
  const ValueId known = g.add("less", {g.constant({3, 1}, {0, 1, 2}), g.number(3)});
  const ValueId both = g.add("and", {known, mask});
  const ValueId bias = g.add("where", {both, g.number(0), g.number(-5)});
  const Graph before = g.finish({g.add("add", {x, bias})});
  const Graph now = after(after(before, fold_constants), simplify);
  EXPECT_EQ(count_ops(now), (Ops{{"add", 1}, {"where", 1}})) << now.to_string();
  const std::vector<Constant> inputs = random_inputs(before, 5);
  EXPECT_EQ(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 0);
}

TEST(SimplifyMap, LargerSlopeKeepsTheBroadcast) {
  Exported g;
  const ValueId x = g.input("x", {1, 1});
  const ValueId wide = g.add("broadcast", {x}, {{"shape", Shape{3, 4}}});
  const Graph before =
      g.finish({g.add("prelu", {wide, g.constant({3, 1}, {0.5, 2, -1})}), g.add("exp", {wide})});
  const Graph now = after(before, simplify);
  EXPECT_EQ(count_ops(now), (Ops{{"broadcast", 2}, {"exp", 1}, {"prelu", 1}})) << now.to_string();
  const std::vector<Constant> inputs = random_inputs(before, 5);
  EXPECT_EQ(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 0);
}

TEST(SimplifyContract, ConstantWeightsAreArrangedAsInAMatrixProduct) {
  struct Letters {
    Shape weights;
    std::string a, b, out, wanted;
  };
  for (const Letters& l :
       {Letters{{5, 4}, "bik", "jk", "bij", "kj"}, Letters{{4, 5}, "bik", "kj", "bij", "kj"},
        Letters{{5, 4, 2}, "bik", "jkb", "bij", "bkj"},
        Letters{{3, 2, 4}, "bik", "ijk", "bj", "ikj"}, Letters{{4, 4}, "bik", "kk", "bi", "kk"}}) {
    Exported g;
    const ValueId x = g.input("x", {2, 3, 4});
    const Graph before = g.finish(
        {g.add("contract", {x, g.weights(l.weights)}, {{"a", l.a}, {"b", l.b}, {"out", l.out}})});
    const Graph now = after(before, simplify);
    EXPECT_EQ(now.node(0).attributes.text("b"), l.wanted);
    const std::vector<Constant> inputs = random_inputs(before, 5);
    EXPECT_EQ(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 0);
  }
}

TEST(CommonSubexpressions, MergesEqualNodes) {
  Exported g;
  const ValueId x = g.input("x", {4});
  const ValueId a = g.add("add", {x, g.number(2)});
  const ValueId b = g.add("add", {g.number(2), x});
  const ValueId c = g.add("sub", {x, g.number(2)});
  const ValueId d = g.add("sub", {g.number(2), x});  // not the same
  const Graph before = g.finish({g.add("mul", {a, b}), g.add("mul", {c, d})});
  const Graph now = after(before, common_subexpressions);
  EXPECT_EQ(count_ops(now), (Ops{{"add", 1}, {"sub", 2}, {"mul", 2}})) << now.to_string();
  const std::vector<Constant> inputs = random_inputs(before, 5);
  EXPECT_EQ(largest_error(evaluate_graph(before, inputs), evaluate_graph(now, inputs)), 0);
}

TEST(CommonSubexpressions, ConstantsAreComparedByteForByte) {
  Exported g;
  constexpr int64_t kMany = 20000;
  const ValueId x = g.input("x", {kMany});
  std::vector<double> numbers(kMany, 0.25);
  const ValueId a = g.constant({kMany}, numbers);
  numbers[501] = 0.5;
  const ValueId b = g.constant({kMany}, numbers);
  const ValueId c = g.constant({kMany}, numbers);
  const Graph now =
      after(g.finish({g.add("mul", {x, a}), g.add("mul", {x, b}), g.add("mul", {x, c})}),
            common_subexpressions);
  EXPECT_EQ(now.nodes().size(), 2U);
  EXPECT_EQ(now.outputs()[1], now.outputs()[2]);
  EXPECT_NE(now.outputs()[0], now.outputs()[1]);
}

TEST(CommonSubexpressions, EqualWeightsAreNotMerged) {
  Exported g;
  const ValueId x = g.input("x", {4});
  const ValueId scaled = g.add("mul", {x, g.constant({4}, {1, 1, 1, 1})});
  const Graph now = after(g.finish({g.add("add", {scaled, g.constant({4}, {1, 1, 1, 1})})}),
                          common_subexpressions);
  EXPECT_NE(now.node(0).inputs[1], now.node(1).inputs[1]);
}

TEST(DeadCode, DropsNodesAndConstantsAndKeepsInputs) {
  Exported g;
  const ValueId x = g.input("x", {4});
  g.input("unread", {4});
  const ValueId y = g.add("relu", {x});
  g.add("mul", {y, g.weights({4})});
  const Graph now = after(g.finish({y}), dead_code);
  EXPECT_EQ(now.nodes().size(), 1U);
  EXPECT_EQ(now.inputs().size(), 2U);
  EXPECT_EQ(now.value_count(), 3U);
  EXPECT_EQ(now.output_names(), std::vector<std::string>{g.graph().value(y).name});
}

TEST(FoldConstants, LargeComputationsAreLeftToTheCaller) {
  Exported g;
  const ValueId x = g.input("x", {300});
  const ValueId w = g.weights({300, 400});
  const ValueId moved = g.transpose(w, {1, 0});
  const ValueId product = g.add("contract", {w, moved}, {{"a", "ik"}, {"b", "kj"}, {"out", "ij"}});
  const Graph before = g.finish({g.add("mul", {x, product}), moved});
  const Graph now = after(before, fold_constants);
  EXPECT_EQ(count_ops(now), (Ops{{"contract", 1}, {"mul", 1}}));
  const Constant& folded = now.value(now.outputs()[1]).constant;
  ASSERT_FALSE(folded.empty());
  EXPECT_EQ(folded.number(5 * 300 + 7), g.graph().value(w).constant.number(7 * 400 + 5));

  int calls = 0;
  const Execute execute = [&](const te::Dag&, std::span<const Constant> inputs) {
    ++calls;
    EXPECT_EQ(inputs.size(), 2U);
    const TensorType type{.element = ir::Scalar::F32, .shape = {300, 300}};
    return Result<std::vector<Constant>>(
        std::vector<Constant>{of_numbers(type, std::vector<double>(90000, 0.5))});
  };
  const Graph executed =
      after(before, fold_constants, {.off = {}, .permissions = {}, .execute = execute});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(count_ops(executed), (Ops{{"mul", 1}}));
}

TEST(FoldConstants, AStopEndsItBeforeTheNextNode) {
  Exported g;
  const ValueId w = g.weights({300, 400});
  const ValueId moved = g.transpose(w, {1, 0});
  const ValueId wide = g.add("contract", {w, moved}, {{"a", "ik"}, {"b", "kj"}, {"out", "ij"}});
  const ValueId thin = g.add("contract", {moved, w}, {{"a", "ik"}, {"b", "kj"}, {"out", "ij"}});
  const Graph before = g.finish({wide, thin});
  const StopSource stop;
  int calls = 0;
  const Execute execute = [&](const te::Dag& dag, std::span<const Constant>) {
    ++calls;
    stop.request();
    const TensorType type = tensor_type(dag.tensor(dag.outputs()[0]));
    return Result<std::vector<Constant>>(std::vector<Constant>{
        of_numbers(type, std::vector<double>(static_cast<size_t>(type.elements()), 0.5))});
  };
  const auto folded = fold_constants(before, {.execute = execute, .stop = stop.token()});
  ASSERT_FALSE(folded.has_value());
  EXPECT_EQ(folded.error().message, "stopped");
  EXPECT_EQ(calls, 1);
}

TEST(FoldConstants, LargeBroadcastIsNotFolded) {
  Exported g;
  const ValueId x = g.input("x", {1});
  const ValueId wide = g.add("broadcast", {g.weights({1, 1024})}, {{"shape", Shape{1024, 1024}}});
  const Graph now = after(g.finish({g.add("mul", {x, wide})}), fold_constants);
  EXPECT_EQ(count_ops(now), (Ops{{"broadcast", 1}, {"mul", 1}}));
}

TEST(FoldConstants, GrowingChainIsBounded) {
  Exported g;
  ValueId value = g.weights({1, 1 << 16});
  for (int i = 0; i < 24; ++i) {
    value = g.add("concat", {value, value}, {{"axis", int64_t{0}}});
  }
  const ValueId x = g.input("x", {1, 1 << 16});
  const Graph now = after(g.finish({g.add("add", {x, value})}), fold_constants);
  EXPECT_GT(count_ops(now)["concat"], 10);
  EXPECT_LT(count_ops(now)["concat"], 24);
  int64_t bytes = 0;
  for (ValueId id = 0; id < now.value_count(); ++id) {
    bytes += static_cast<int64_t>(now.value(id).constant.bytes().size());
  }
  EXPECT_LE(bytes, int64_t{1} << 28);
}

TEST(ConstantMath, TransposesAndCombines) {
  const TensorType type{.element = ir::Scalar::F16, .shape = {2, 1, 3}};
  const Constant c = of_numbers(type, std::vector<double>{1, 2, 3, 4, 5, 6});
  const Constant moved = transposed(c, std::vector<int64_t>{2, 0, 1});
  EXPECT_EQ(moved.type().shape, (Shape{3, 2, 1}));
  EXPECT_EQ(numbers_of(moved), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  const Constant by =
      of_numbers({.element = ir::Scalar::F16, .shape = {2, 1}}, std::vector<double>{10, 100});
  EXPECT_EQ(numbers_of(combined(c, by, Combine::Mul)),
            (std::vector<double>{10, 20, 30, 100, 200, 300, 40, 50, 60, 400, 500, 600}));
  EXPECT_EQ(numbers_of(scaled(c, 2, std::vector<double>{1, 0, -1})),
            (std::vector<double>{1, 0, -3, 4, 0, -6}));
}

}  // namespace
}  // namespace tilewright::graph
