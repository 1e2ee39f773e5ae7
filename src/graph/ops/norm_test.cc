#include <cmath>

#include "graph/ops/testing.h"
#include "task/workload.h"
#include "te/ops/norm.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

// (x - mean) / sqrt(variance + epsilon) of a list.
Numbers normal(const Numbers& x, double epsilon) {
  double mean = 0, variance = 0;
  for (const double one : x) mean += one / static_cast<double>(x.size());
  for (const double one : x)
    variance += (one - mean) * (one - mean) / static_cast<double>(x.size());
  Numbers all;
  for (const double one : x) all.push_back((one - mean) / std::sqrt(variance + epsilon));
  return all;
}

TEST(LayerNorm, OverTheLastDimensions) {
  const Constant x = f32({2, 2, 2}, {1, 2, 3, 5, -1, 0, 2, 8});
  const Numbers first = normal({1, 2, 3, 5}, 0.1), second = normal({-1, 0, 2, 8}, 0.1);
  Numbers all = first;
  all.insert(all.end(), second.begin(), second.end());
  const Attributes two = {{"axis", int64_t{1}}, {"epsilon", 0.1}};
  expect_near(numbers(run("layer_norm", two, {x})), all);
  const Constant scale = f32({2, 2}, {1, 2, 3, 4}), bias = f32({2}, {10, 20});
  for (size_t k = 0; k < 8; ++k) {
    all[k] = all[k] * static_cast<double>(k % 4 + 1) + (k % 2 == 0 ? 10 : 20);
  }
  expect_near(numbers(run("layer_norm", two, {x, scale, bias})), all);
  expect_near(
      numbers(run("layer_norm", {{"epsilon", 0.1}}, {f32({1, 2}, {1, 2}), Constant(), bias})),
      {normal({1, 2}, 0.1)[0] + 10, normal({1, 2}, 0.1)[1] + 20});
}

TEST(Norms, RowNormsHaveTheKeysOfOperators) {
  const TensorType x = type_of({8, 32}), c = type_of({32});
  const auto layer = define("layer_norm", {}, {x, c, c});
  const auto rms = define("rms_norm", {}, {x, c});
  ASSERT_TRUE(layer && rms);
  const te::RowNorm shape{.m = 8, .n = 32};
  EXPECT_EQ(make_workload(*layer, {"scale", "shift"}, "").key(),
            make_workload(te::layer_norm(shape), {"scale", "shift"}, "").key());
  EXPECT_EQ(make_workload(*rms, {"scale"}, "").key(),
            make_workload(te::rms_norm(shape), {"scale"}, "").key());
  EXPECT_EQ((*layer)->flop(), te::layer_norm(shape)->flop());
}

TEST(RmsNorm, DividesByTheRootMeanSquare) {
  const Constant x = f32({2, 2}, {3, 4, 0, 2});
  const double first = std::sqrt(12.5 + 0.5), second = std::sqrt(2 + 0.5);
  expect_near(numbers(run("rms_norm", {{"epsilon", 0.5}}, {x, f32({1, 2})})),
              {3 / first, 8 / first, 0, 4 / second});
}

TEST(GroupNorm, GroupsOfChannels) {
  const Numbers values = {1, 2, 3, 5, -1, 0, 2, 8};
  const Numbers first = normal({1, 2, 3, 5}, 1e-5), second = normal({-1, 0, 2, 8}, 1e-5);
  Numbers all = first;
  all.insert(all.end(), second.begin(), second.end());
  const Constant x = f32({1, 4, 2}, values);
  expect_near(numbers(run("group_norm", {{"groups", int64_t{2}}}, {x})), all, 1e-5);
  expect_near(numbers(run("group_norm", {{"groups", int64_t{1}}}, {x})), normal(values, 1e-5),
              1e-5);
  Numbers scaled = all;
  for (size_t k = 0; k < 8; ++k) scaled[k] = scaled[k] * static_cast<double>(k / 2 + 1) + 1;
  expect_near(numbers(run("group_norm", {{"groups", int64_t{2}}},
                          {x, f32({1, 2, 3, 4}), f32({1, 1, 1, 1})})),
              scaled, 1e-5);
}

TEST(GroupNorm, ChannelsLastAndInstances) {
  const Constant first = f32({1, 2, 3}, {1, 2, 4, 3, 7, 8});
  const Constant last = run("transpose", {{"perm", Shape{0, 2, 1}}}, {first});
  const Attributes instances = {{"groups", int64_t{2}}};
  const Numbers expected = numbers(run("group_norm", instances, {first}));
  Numbers by_hand = normal({1, 2, 4}, 1e-5);
  for (const double one : normal({3, 7, 8}, 1e-5)) by_hand.push_back(one);
  expect_near(expected, by_hand, 1e-5);
  const Constant moved = run("group_norm", {{"groups", int64_t{2}}, {"axis", int64_t{-1}}}, {last});
  expect_near(numbers(run("transpose", {{"perm", Shape{0, 2, 1}}}, {moved})), expected);
  const Constant flat = run("group_norm", {{"groups", int64_t{2}}}, {f32({1, 2}, {5, 7})});
  expect_near(numbers(flat), {0, 0});  // each channel alone
}

TEST(GroupNorm, ChannelsLastInAnyRank) {
  for (const Shape& spatial : {Shape{5}, Shape{3, 4}, Shape{2, 3, 2}}) {
    for (const int64_t groups : {1, 2, 6}) {
      Shape shape = {2, 6};
      shape.insert(shape.end(), spatial.begin(), spatial.end());
      Shape forth = {0};
      for (size_t d = 2; d < shape.size(); ++d) forth.push_back(static_cast<int64_t>(d));
      forth.push_back(1);
      int64_t count = 1;
      for (const int64_t extent : shape) count *= extent;
      Numbers values;
      for (int64_t k = 0; k < count; ++k) values.push_back(static_cast<double>(k * k % 31));
      const Constant x = f32(shape, values);
      const Constant scale = f32({6}, {1, 2, 3, 4, 5, 6}), shift = f32({6}, {6, 0, 1, 0, 2, 0});
      const Constant expected = run("transpose", {{"perm", forth}},
                                    {run("group_norm", {{"groups", groups}}, {x, scale, shift})});
      const Constant moved = run("transpose", {{"perm", forth}}, {x});
      const Constant last =
          run("group_norm", {{"groups", groups}, {"axis", int64_t{-1}}}, {moved, scale, shift});
      expect_near(numbers(last), numbers(expected), 1e-5);
    }
  }
}

TEST(Lrn, AcrossChannels) {
  const Constant x = f32({1, 4, 1}, {1, 2, 3, 4});
  const Attributes attributes = {
      {"size", int64_t{3}}, {"alpha", 3.0}, {"beta", 0.5}, {"bias", 2.0}};
  expect_near(numbers(run("lrn", attributes, {x})),
              {1 / std::sqrt(2 + 5.), 2 / std::sqrt(2 + 14.), 3 / std::sqrt(2 + 29.),
               4 / std::sqrt(2 + 25.)});
  const Attributes even = {{"size", int64_t{2}}, {"alpha", 2.0}, {"beta", 1.0}, {"bias", 0.0}};
  expect_near(numbers(run("lrn", even, {x})), {1 / 5., 2 / 13., 3 / 25., 4 / 16.});
}

TEST(LpNorm, OneAndTwo) {
  const Constant x = f32({2, 2}, {3, -4, 0, 0});
  expect_near(numbers(run("lp_norm", {}, {x})), {0.6, -0.8, 0, 0});
  expect_near(numbers(run("lp_norm", {{"p", int64_t{1}}, {"axis", int64_t{1}}}, {x})),
              {3. / 7, -4. / 7, 0, 0});
}

TEST(Norms, Mistakes) {
  const TensorType x = type_of({2, 4, 3});
  EXPECT_EQ(error_of("layer_norm", {}, {x, type_of({4})}),
            "layer_norm: f32[4] does not broadcast to f32[2,4,3]");
  EXPECT_EQ(error_of("layer_norm", {{"epsilon", -1.0}}, {x}), "layer_norm: epsilon=-1 is negative");
  EXPECT_EQ(error_of("layer_norm", {{"axis", int64_t{3}}}, {x}),
            "layer_norm: there is no axis 3 among 3 dimensions");
  EXPECT_EQ(error_of("group_norm", {{"groups", int64_t{3}}}, {x}),
            "group_norm: 3 groups along dimension 1 of f32[2,4,3]");
  EXPECT_NE(error_of("group_norm", {{"groups", int64_t{2}}, {"axis", int64_t{0}}}, {x}), "");
  EXPECT_NE(error_of("group_norm", {{"groups", int64_t{0}}}, {x}), "");
  EXPECT_NE(error_of("group_norm", {{"groups", int64_t{2}}}, {x, type_of({2})}), "");
  EXPECT_NE(error_of("lrn", {}, {x}), "");  // no size
  EXPECT_NE(error_of("lp_norm", {{"p", int64_t{3}}}, {x}), "");
  EXPECT_EQ(error_of("rms_norm", {}, {x, type_of({3}, Scalar::F16)}),
            "rms_norm: operands of f32 and f16; they should have one type");
}

}  // namespace
}  // namespace tilewright::graph
