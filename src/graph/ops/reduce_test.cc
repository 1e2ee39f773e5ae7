#include <cmath>
#include <limits>

#include "graph/ops/testing.h"
#include "task/workload.h"
#include "te/ops/softmax.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

const Constant kMatrix = f32({2, 3}, {1, -2, 3, 4, 5, -6});

Constant reduce(const std::string& kind, Shape axes, const Constant& x, bool keep = false) {
  return run("reduce", {{"kind", kind}, {"axes", std::move(axes)}, {"keep", int64_t{keep}}}, {x});
}

TEST(Reduce, EveryKind) {
  const auto rows = [](const std::string& kind) { return numbers(reduce(kind, {1}, kMatrix)); };
  EXPECT_EQ(rows("sum"), (Numbers{2, 3}));
  expect_near(rows("mean"), {2.0 / 3, 1});
  EXPECT_EQ(rows("max"), (Numbers{3, 5}));
  EXPECT_EQ(rows("min"), (Numbers{-2, -6}));
  EXPECT_EQ(rows("prod"), (Numbers{-6, -120}));
  EXPECT_EQ(rows("l1"), (Numbers{6, 15}));
  expect_near(rows("l2"), {std::sqrt(14.0), std::sqrt(77.0)});
  EXPECT_EQ(rows("sum_square"), (Numbers{14, 77}));
  expect_near(rows("log_sum"), {std::log(2.0), std::log(3.0)});
  expect_near(rows("log_sum_exp"), {std::log(std::exp(1.0) + std::exp(-2.0) + std::exp(3.0)),
                                    std::log(std::exp(4.0) + std::exp(5.0) + std::exp(-6.0))});
  const Constant bits = boolean({2, 2}, {0, 1, 1, 1});
  EXPECT_EQ(numbers(reduce("any", {1}, bits)), (Numbers{1, 1}));
  EXPECT_EQ(numbers(reduce("all", {1}, bits)), (Numbers{0, 1}));
}

TEST(Reduce, AxesAndKeptDimensions) {
  EXPECT_EQ(reduce("sum", {0, 1}, kMatrix).type().shape, Shape{});
  EXPECT_EQ(numbers(reduce("sum", {0, -1}, kMatrix)), (Numbers{5}));
  EXPECT_EQ(reduce("l2", {-1}, kMatrix, true).type().shape, (Shape{2, 1}));
  EXPECT_EQ(reduce("sum", {0}, kMatrix, true).type().shape, (Shape{1, 3}));
  EXPECT_EQ(numbers(reduce("sum", {}, kMatrix)), numbers(kMatrix));
  EXPECT_EQ(numbers(reduce("l1", {}, kMatrix)), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(numbers(reduce("max", {}, f32({}, {3}))), (Numbers{3}));
}

TEST(Reduce, Integers) {
  const Constant x = i64({2, 2}, {-3, -4, 3, 4});
  EXPECT_EQ(numbers(reduce("mean", {1}, x)), (Numbers{-3, 3}));  // without the fraction
  EXPECT_EQ(numbers(reduce("sum_square", {0}, x)), (Numbers{18, 32}));
  const int64_t large[] = {int64_t{1} << 60, 1};
  EXPECT_EQ(reduce("sum", {0}, Constant::of_integers({2}, large)).integer(0), large[0] + 1);
  EXPECT_EQ(numbers(reduce("max", {0}, constant(Scalar::U8, {2}, {200, 100}))), (Numbers{200}));
}

TEST(Reduce, LogSumExpOfLargeValues) {
  const double infinity = std::numeric_limits<double>::infinity();
  expect_near(numbers(reduce("log_sum_exp", {0}, f32({1000, 1000}))), {1000 + std::log(2.0)});
  EXPECT_EQ(numbers(reduce("log_sum_exp", {0}, f32({-infinity, -infinity})))[0], -infinity);
}

TEST(ArgReduce, FirstOrLast) {
  const Constant x = f32({2, 3}, {1, 3, 3, 2, 2, 1});
  const auto find = [&](const std::string& kind, int64_t axis, int64_t keep, int64_t last) {
    return run("arg_reduce", {{"kind", kind}, {"axis", axis}, {"keep", keep}, {"last", last}}, {x});
  };
  EXPECT_EQ(numbers(find("max", 1, 0, 0)), (Numbers{1, 0}));
  EXPECT_EQ(numbers(find("max", 1, 0, 1)), (Numbers{2, 1}));
  EXPECT_EQ(numbers(find("min", -1, 0, 0)), (Numbers{0, 2}));
  EXPECT_EQ(numbers(find("max", 0, 0, 0)), (Numbers{1, 0, 0}));
  EXPECT_EQ(find("max", 1, 1, 0).type().to_string(), "i64[2,1]");
}

TEST(CumSum, Directions) {
  const Constant x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto sums = [&](int64_t axis, int64_t exclusive, int64_t reverse) {
    return numbers(
        run("cum_sum", {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}}, {x}));
  };
  EXPECT_EQ(sums(1, 0, 0), (Numbers{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(sums(1, 1, 0), (Numbers{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(sums(-1, 0, 1), (Numbers{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(sums(0, 0, 0), (Numbers{1, 2, 3, 5, 7, 9}));
}

TEST(Softmax, AnyAxis) {
  const Constant x = f32({2, 3}, {0, std::log(2.0), std::log(3.0), 0, 0, std::log(2.0)});
  expect_near(numbers(run("softmax", {}, {x})), {1. / 6, 2. / 6, 3. / 6, 0.25, 0.25, 0.5});
  expect_near(numbers(run("softmax", {{"axis", int64_t{0}}}, {x})),
              {0.5, 2. / 3, 0.6, 0.5, 1. / 3, 0.4});
  const Constant logs = run("softmax", {{"log", int64_t{1}}}, {x});
  expect_near(numbers(logs), {std::log(1. / 6), std::log(2. / 6), std::log(3. / 6), std::log(0.25),
                              std::log(0.25), std::log(0.5)});
  const Constant large = run("softmax", {{"axis", int64_t{1}}}, {f32({1, 2}, {1000, 1000})});
  expect_near(numbers(large), {0.5, 0.5});
}

TEST(Softmax, RowSoftmaxHasTheKeyOfTheOperator) {
  for (const bool log : {false, true}) {
    const auto dag = define("softmax", {{"log", int64_t{log}}}, {type_of({16, 64})});
    ASSERT_TRUE(dag);
    const auto known = log ? te::log_softmax(16, 64) : te::softmax(16, 64);
    EXPECT_EQ(make_workload(*dag, {}, "").key(), make_workload(known, {}, "").key());
    EXPECT_EQ((*dag)->flop(), known->flop());
  }
}

TEST(ReduceOps, Mistakes) {
  const TensorType x = type_of({2, 3}), b = type_of({2}, Scalar::Bool);
  const auto of = [](const std::string& kind, Shape axes) {
    return Attributes{{"kind", kind}, {"axes", std::move(axes)}};
  };
  EXPECT_EQ(error_of("reduce", of("sum", {2}), {x}),
            "reduce: there is no axis 2 among 2 dimensions");
  EXPECT_EQ(error_of("reduce", of("sum", {0, -2}), {x}), "reduce: axes names a dimension twice");
  EXPECT_NE(error_of("reduce", of("median", {0}), {x}), "");
  EXPECT_EQ(error_of("reduce", of("sum", {0}), {b}), "reduce: is for numbers, not for bool");
  EXPECT_EQ(error_of("reduce", of("l2", {0}), {type_of({2}, Scalar::I32)}),
            "reduce: is for floats, not for i32");
  EXPECT_NE(error_of("arg_reduce", {{"axis", int64_t{2}}}, {x}), "");
  EXPECT_NE(error_of("cum_sum", {{"axis", int64_t{0}}}, {type_of({})}), "");
  EXPECT_NE(error_of("softmax", {}, {type_of({})}), "");
  EXPECT_EQ(error_of("softmax", {}, {type_of({2}, Scalar::I32)}),
            "softmax: is for floats, not for i32");
}

}  // namespace
}  // namespace tilewright::graph
