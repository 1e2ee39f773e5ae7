#include <cmath>

#include "graph/ops/testing.h"
#include "task/parse.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

Attributes window(const std::string& kind, Shape kernel, Shape stride, Shape begin, Shape end) {
  return {{"kind", kind},
          {"kernel", std::move(kernel)},
          {"stride", std::move(stride)},
          {"pad_begin", std::move(begin)},
          {"pad_end", std::move(end)}};
}

const Constant kLine = f32({1, 1, 5}, {1, 4, 2, 8, 5});

TEST(Pool, MaxAndAverage) {
  EXPECT_EQ(numbers(run("pool", window("max", {3}, {2}, {1}, {1}), {kLine})), (Numbers{4, 8, 8}));
  Attributes average = window("average", {3}, {2}, {1}, {1});
  expect_near(numbers(run("pool", average, {kLine})), {2.5, 14. / 3, 6.5});
  average.set("count_include_pad", int64_t{1});
  expect_near(numbers(run("pool", average, {kLine})), {5. / 3, 14. / 3, 13. / 3});
}

TEST(Pool, OneSidedPads) {
  EXPECT_EQ(numbers(run("pool", window("max", {2}, {2}, {0}, {1}), {kLine})), (Numbers{4, 8, 5}));
  EXPECT_EQ(numbers(run("pool", window("max", {2}, {2}, {1}, {0}), {kLine})), (Numbers{1, 4, 8}));
  expect_near(numbers(run("pool", window("average", {2}, {2}, {0}, {1}), {kLine})), {2.5, 5, 5});
}

TEST(Pool, CeilMode) {
  Attributes average = window("average", {3}, {2}, {1}, {2});
  average.set("count_include_pad", int64_t{1});
  average.set("ceil_pad", Shape{1});
  // x is [0] 1 4 2 8 5 [0] and one more that never counts.
  expect_near(numbers(run("pool", average, {kLine})), {5. / 3, 14. / 3, 13. / 3});
  const Constant four = f32({1, 1, 4}, {1, 4, 2, 8});
  Attributes up = window("average", {3}, {2}, {1}, {2});
  up.set("count_include_pad", int64_t{1});
  up.set("ceil_pad", Shape{1});
  expect_near(numbers(run("pool", up, {four})), {5. / 3, 14. / 3, 8. / 2});
}

TEST(Pool, Dilation) {
  Attributes wide = window("max", {2}, {1}, {0}, {0});
  wide.set("dilation", Shape{3});
  EXPECT_EQ(numbers(run("pool", wide, {kLine})), (Numbers{8, 5}));
  Attributes average = window("average", {2}, {1}, {1}, {1});
  average.set("dilation", Shape{2});
  // Positions -1 1 | 0 2 | 1 3 | 2 4 | 3 5 of 1 4 2 8 5.
  expect_near(numbers(run("pool", average, {kLine})), {4, 1.5, 6, 3.5, 8});
}

TEST(Pool, Lp) {
  Attributes two = window("lp", {2}, {2}, {0}, {0});
  expect_near(numbers(run("pool", two, {f32({1, 1, 4}, {3, -4, 0, 2})})), {5, 2});
  two.set("p", int64_t{3});
  expect_near(numbers(run("pool", two, {f32({1, 1, 4}, {1, -2, 0, 2})})), {std::cbrt(9.0), 2});
}

TEST(Pool, LayoutsAgree) {
  const Constant x = random_numbers({2, 3, 5, 4}, 1);
  const Constant last = run("transpose", {{"perm", Shape{0, 2, 3, 1}}}, {x});
  for (const std::string kind : {"max", "average"}) {
    Attributes attributes = window(kind, {3, 2}, {2, 1}, {1, 0}, {0, 1});
    const Constant first = run("pool", attributes, {x});
    EXPECT_EQ(first.type().shape, (Shape{2, 3, 2, 4}));
    attributes.set("channels_last", int64_t{1});
    const Constant moved = run("pool", attributes, {last});
    expect_near(numbers(run("transpose", {{"perm", Shape{0, 3, 1, 2}}}, {moved})), numbers(first));
  }
}

TEST(Pool, ChannelsLastHasTheKeyOfTheOperator) {
  for (const std::string kind : {"max", "average"}) {
    Attributes attributes = window(kind, {3, 3}, {2, 2}, {1, 1}, {1, 1});
    attributes.set("channels_last", int64_t{1});
    const auto dag = define("pool", attributes, {type_of({1, 14, 14, 8})});
    const auto known =
        parse_workload("pool:op=" + kind + ",spatial=14x14,c=8,kernel=3,stride=2,pad=1");
    ASSERT_TRUE(dag && known);
    EXPECT_EQ(make_workload(*dag, {}, "").key(), known->key());
  }
}

TEST(Pool, Mistakes) {
  const TensorType x = type_of({1, 2, 5});
  EXPECT_NE(error_of("pool", window("max", {7}, {1}, {0}, {0}), {x}), "");   // does not fit
  EXPECT_NE(error_of("pool", window("max", {2}, {1}, {2}, {0}), {x}), "");   // all border
  EXPECT_NE(error_of("pool", window("max", {2}, {1}, {0}, {9}), {x}), "");   // begins behind
  EXPECT_NE(error_of("pool", window("max", {2}, {0}, {0}, {0}), {x}), "");   // no step
  EXPECT_NE(error_of("pool", window("max", {2}, {1}, {-1}, {0}), {x}), "");  // negative
  EXPECT_EQ(error_of("pool", window("max", {2, 2}, {1}, {0}, {0}), {x}),
            "pool: kernel=[2,2] should have 1 numbers");
  EXPECT_EQ(error_of("pool", {{"kind", std::string("max")}}, {x}), "pool: kernel is missing");
  EXPECT_NE(
      error_of("pool", window("average", {2}, {1}, {0}, {0}), {type_of({1, 2, 5}, Scalar::I32)}),
      "");
  EXPECT_NE(error_of("pool", window("max", {2}, {1}, {0}, {0}), {type_of({1, 2})}), "");
  Attributes huge = window("max", {2147483647}, {1}, {2147483646}, {2147483646});
  huge.set("dilation", Shape{2147483647});
  EXPECT_NE(error_of("pool", huge, {x}), "");
}

}  // namespace
}  // namespace tilewright::graph
