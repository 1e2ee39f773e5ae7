#include <limits>

#include "graph/ops/testing.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

TEST(MapOps, BroadcastAsNumPy) {
  const Constant a = f32({2, 1, 3}, {1, 2, 3, 4, 5, 6}), b = f32({2, 1}, {10, 20});
  const Constant sum = run("add", {}, {a, b});
  EXPECT_EQ(sum.type().shape, (Shape{2, 2, 3}));
  EXPECT_EQ(numbers(sum), (Numbers{11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26}));
  EXPECT_EQ(numbers(run("sub", {}, {f32({}, {7}), f32({}, {2})})), (Numbers{5}));
  EXPECT_EQ(numbers(run("add", {}, {a, a, a}))[5], 18);
  EXPECT_EQ(numbers(run("max", {}, {a})), numbers(a));
  EXPECT_EQ(numbers(run("min", {}, {f32({4}), f32({2}), f32({3})})), (Numbers{2}));
}

TEST(MapOps, SingleElementwiseStage) {
  // A batch of one keeps its axis: consumers of a convolution must read elementwise.
  const auto dag = define("add", {}, {type_of({1, 4, 4, 8}), type_of({8})});
  ASSERT_TRUE(dag);
  EXPECT_EQ((*dag)->ops().size(), 3U);
  EXPECT_NE((*dag)->to_string().find("X0[i, j, k, l] + X1[l]"), std::string::npos)
      << (*dag)->to_string();
}

TEST(MapOps, IntegerDivisionTruncates) {
  const Constant a = i64({6}, {7, -7, 7, -7, 8, 5}), b = i64({6}, {2, 2, -2, -2, -2, 0});
  EXPECT_EQ(numbers(run("div", {}, {a, b})), (Numbers{3, -3, -3, 3, -4, 0}));
  EXPECT_EQ(numbers(run("mod", {}, {a, b})), (Numbers{1, 1, -1, -1, 0, 0}));
  EXPECT_EQ(numbers(run("mod", {{"fmod", int64_t{1}}}, {a, b})), (Numbers{1, -1, 1, -1, 0, 0}));
  const Constant u = constant(Scalar::U8, {2}, {250, 7}), v = constant(Scalar::U8, {2}, {3, 0});
  EXPECT_EQ(numbers(run("div", {}, {u, v})), (Numbers{83, 0}));
  const Constant w = constant(Scalar::U32, {2}, {4294967295, 7}),
                 d = constant(Scalar::U32, {2}, {2, 3});
  EXPECT_EQ(numbers(run("div", {}, {w, d})), (Numbers{2147483647, 2}));
  EXPECT_EQ(numbers(run("mod", {}, {w, d})), (Numbers{1, 1}));
}

TEST(MapOps, FloatModulo) {
  const Constant a = f32({7.5, -7.5, 7.5}), b = f32({2, 2, -2});
  EXPECT_EQ(numbers(run("mod", {{"fmod", int64_t{1}}}, {a, b})), (Numbers{1.5, -1.5, 1.5}));
  EXPECT_EQ(numbers(run("mod", {}, {a, b})), (Numbers{1.5, 0.5, -0.5}));
  const double infinity = std::numeric_limits<double>::infinity();
  const Constant c = f32({1, -1, 1, -1, 0}),
                 d = f32({infinity, infinity, -infinity, -infinity, infinity});
  EXPECT_EQ(numbers(run("mod", {}, {c, d})), (Numbers{1, infinity, -infinity, -1, 0}));
  EXPECT_EQ(numbers(run("mod", {{"fmod", int64_t{1}}}, {c, d})), numbers(c));
}

TEST(MapOps, LargeIntegersAreExact) {
  const int64_t large[] = {(int64_t{1} << 53) + 1};
  const Constant a = Constant::of_integers({1}, large);
  EXPECT_EQ(run("add", {}, {a, i64({1}, {1})}).integer(0), large[0] + 1);
  EXPECT_EQ(run("mul", {}, {a, i64({1}, {3})}).integer(0), large[0] * 3);
  EXPECT_EQ(run("equal", {}, {a, i64({1}, {9007199254740992.0})}).integer(0), 0);
}

TEST(MapOps, PowOfAnyTypes) {
  EXPECT_EQ(numbers(run("pow", {}, {f32({2, -3, 9}), f32({3, 2, 0.5})})), (Numbers{8, 9, 3}));
  EXPECT_EQ(numbers(run("pow", {}, {f32({2, -3}), i64({2}, {3, 3})})), (Numbers{8, -27}));
  const Constant whole = run("pow", {}, {i64({3}, {2, -3, 10}), f32({10, 3, 9})});
  EXPECT_EQ(whole.type().element, Scalar::I64);
  EXPECT_EQ(numbers(whole), (Numbers{1024, -27, 1e9}));
}

TEST(MapOps, ComparisonsAndLogic) {
  const Constant a = f32({1, 2, 3}), b = f32({2, 2, 2});
  EXPECT_EQ(numbers(run("less", {}, {a, b})), (Numbers{1, 0, 0}));
  EXPECT_EQ(numbers(run("less_equal", {}, {a, b})), (Numbers{1, 1, 0}));
  EXPECT_EQ(numbers(run("greater", {}, {a, b})), (Numbers{0, 0, 1}));
  EXPECT_EQ(numbers(run("greater_equal", {}, {a, b})), (Numbers{0, 1, 1}));
  EXPECT_EQ(numbers(run("equal", {}, {a, b})), (Numbers{0, 1, 0}));
  const Constant p = boolean({4}, {0, 0, 1, 1}), q = boolean({4}, {0, 1, 0, 1});
  EXPECT_EQ(numbers(run("and", {}, {p, q})), (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(numbers(run("or", {}, {p, q})), (Numbers{0, 1, 1, 1}));
  EXPECT_EQ(numbers(run("xor", {}, {p, q})), (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(numbers(run("equal", {}, {p, q})), (Numbers{1, 0, 0, 1}));
}

TEST(MapOps, Bits) {
  const Constant a = constant(Scalar::U8, {3}, {12, 200, 255}),
                 b = constant(Scalar::U8, {3}, {10, 1, 9});
  EXPECT_EQ(numbers(run("bit_and", {}, {a, b})), (Numbers{8, 0, 9}));
  EXPECT_EQ(numbers(run("bit_or", {}, {a, b})), (Numbers{14, 201, 255}));
  EXPECT_EQ(numbers(run("bit_xor", {}, {a, b})), (Numbers{6, 201, 246}));
  const Attributes right = {{"direction", std::string("right")}};
  EXPECT_EQ(numbers(run("shift", {{"direction", std::string("left")}}, {a, b})),
            (Numbers{0, 144, 0}));
  EXPECT_EQ(numbers(run("shift", right, {a, constant(Scalar::U8, {3}, {2, 1, 9})})),
            (Numbers{3, 100, 0}));
}

TEST(MapOps, WherePreluClip) {
  const Constant c = boolean({2, 1}, {1, 0});
  EXPECT_EQ(numbers(run("where", {}, {c, f32({1, 2}), f32({}, {9})})), (Numbers{1, 2, 9, 9}));
  EXPECT_EQ(numbers(run("prelu", {}, {f32({2, 2}, {-1, 2, -3, 4}), f32({0.5, 2})})),
            (Numbers{-0.5, 2, -1.5, 4}));
  const Constant x = f32({-5, 0, 5});
  EXPECT_EQ(numbers(run("clip", {}, {x, f32({}, {-1}), f32({}, {2})})), (Numbers{-1, 0, 2}));
  EXPECT_EQ(numbers(run("clip", {}, {x, f32({}, {-1})})), (Numbers{-1, 0, 5}));
  EXPECT_EQ(numbers(run("clip", {}, {x, Constant(), f32({}, {2})})), (Numbers{-5, 0, 2}));
  EXPECT_EQ(numbers(run("clip", {}, {x, f32({}, {3}), f32({1}, {1})})), (Numbers{1, 1, 1}));
}

TEST(MapOps, HalfFloatsComputeInSingle) {
  const Constant a = constant(Scalar::F16, {1}, {2048}), b = constant(Scalar::F16, {1}, {1});
  const Constant sum = run("add", {}, {a, b, b});  // 2049 alone would round to 2048
  EXPECT_EQ(sum.type().element, Scalar::F16);
  EXPECT_EQ(numbers(sum), (Numbers{2050}));
}

TEST(MapOps, Mistakes) {
  const TensorType x = type_of({4}), b = type_of({4}, Scalar::Bool), n = type_of({4}, Scalar::I64);
  EXPECT_EQ(error_of("add", {}, {x, n}),
            "add: operands of types f32 and i64; they should have one");
  EXPECT_EQ(error_of("add", {}, {b, b}), "add: is for numbers, not for bool");
  EXPECT_EQ(error_of("and", {}, {x, x}), "and: is for bool, not for f32");
  EXPECT_EQ(error_of("bit_or", {}, {x, x}), "bit_or: is for integers, not for f32");
  EXPECT_EQ(error_of("where", {}, {x, x, x}), "where: the condition is f32, not bool");
  EXPECT_EQ(error_of("where", {}, {b, x, n}),
            "where: operands of types f32 and i64; they should have one");
  EXPECT_EQ(error_of("prelu", {}, {x, type_of({2, 4})}),
            "prelu: a slope of [2,4] does not broadcast to [4]");
  EXPECT_EQ(error_of("clip", {}, {x, x}), "clip: a bound of f32[4] for f32[4]");
  EXPECT_EQ(error_of("shift", {{"direction", std::string("up")}}, {n, n}),
            "shift: direction=up is unknown; legal are left, right");
  EXPECT_EQ(error_of("add", {}, {type_of({0})}),
            "add: not supported: empty tensor (operand 0 is f32[0])");
  EXPECT_EQ(error_of("add", {}, {type_of({-2})}),
            "add: operand 0 is f32[-2]: an extent is negative");
  const TensorType of_max_rank = type_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 2});
  EXPECT_TRUE(
      find_op("add")->define({}, std::vector<std::optional<TensorType>>{of_max_rank, of_max_rank}));
  EXPECT_EQ(error_of("add", {}, {type_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})}),
            "add: operand 0 has 11 dimensions; up to 10 are supported");
  const int64_t huge = int64_t{1} << 30;
  EXPECT_NE(error_of("add", {}, {type_of({huge, 1}), type_of({1, huge})}), "");  // 2^60 elements
  EXPECT_NE(error_of("add", {}, {type_of({huge, huge, huge})}), "");
}

}  // namespace
}  // namespace tilewright::graph
