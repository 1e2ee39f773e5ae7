#include <cmath>

#include "graph/ops/testing.h"
#include "task/parse.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

Attributes to(Shape shape, const std::string& mode, const std::string& coordinates = "half_pixel") {
  return {{"to", std::move(shape)}, {"mode", mode}, {"coordinates", coordinates}};
}

const Constant kLine = f32({1, 2, 3, 4});

TEST(Resize, NearestAndLinearHaveTheKeysOfOperators) {
  const auto dag =
      define("resize", to({1, 8, 8, 3}, "linear", "asymmetric"), {type_of({1, 4, 4, 3})});
  ASSERT_TRUE(dag);
  const auto known =
      parse_workload("resize:shape=1x4x4x3,to=1x8x8x3,mode=linear,coordinates=asymmetric");
  ASSERT_TRUE(known);
  EXPECT_EQ(make_workload(*dag, {}, "").key(), known->key());
  EXPECT_EQ(numbers(run("resize", to({8}, "nearest", "asymmetric"), {kLine})),
            (Numbers{1, 1, 2, 2, 3, 3, 4, 4}));
}

TEST(Resize, ScalesThatAreNotRatios) {
  // ONNX: 4 * 0.6 is 2 elements, at places (o + 1/2) / 0.6 - 1/2.
  Attributes attributes = to({2}, "linear");
  attributes.set("scales", std::string("0.6"));
  const double first = 0.5 / 0.6 - 0.5, second = 1.5 / 0.6 - 0.5;
  expect_near(numbers(run("resize", attributes, {kLine})), {1 + first, 1 + second});
  attributes.set("mode", std::string("nearest"));
  EXPECT_EQ(numbers(run("resize", attributes, {kLine})), (Numbers{1, 3}));
  attributes.set("coordinates", std::string("asymmetric"));
  EXPECT_EQ(numbers(run("resize", attributes, {kLine})), (Numbers{1, 3}));
}

TEST(Resize, AlignCornersAndSingleElements) {
  expect_near(numbers(run("resize", to({7}, "linear", "align_corners"), {kLine})),
              {1, 1.5, 2, 2.5, 3, 3.5, 4});
  EXPECT_EQ(numbers(run("resize", to({1}, "linear", "pytorch_half_pixel"), {kLine})), (Numbers{1}));
  expect_near(numbers(run("resize", to({1}, "linear", "half_pixel"), {kLine})), {2.5});
}

// The cubic kernel of ONNX.
double cubic(double z, double a) {
  z = std::fabs(z);
  if (z < 1) return ((a + 2) * z - (a + 3)) * z * z + 1;
  return z < 2 ? ((a * z - 5 * a) * z + 8 * a) * z - 4 * a : 0;
}

TEST(Resize, Cubic) {
  Numbers expected, inside;
  for (int o = 0; o < 8; ++o) {
    const double p = (o + 0.5) / 2 - 0.5;
    double sum = 0, kept = 0, weights = 0;
    for (int e = -3; e < 8; ++e) {
      const double weight = cubic(p - e, -0.75);
      sum += weight * (std::min(std::max(e, 0), 3) + 1);
      if (e < 0 || e > 3) continue;
      kept += weight * (e + 1);
      weights += weight;
    }
    expected.push_back(sum);
    inside.push_back(kept / weights);
  }
  expect_near(numbers(run("resize", to({8}, "cubic"), {kLine})), expected);
  Attributes excluded = to({8}, "cubic");
  excluded.set("exclude_outside", int64_t{1});
  expect_near(numbers(run("resize", excluded, {kLine})), inside);
}

TEST(Resize, AntialiasedLinear) {
  Attributes attributes = to({2}, "linear");
  attributes.set("antialias", int64_t{1});
  // Scale 1/2: triangles of width 4 around 0.5 and 2.5.
  Numbers expected;
  for (const double p : {0.5, 2.5}) {
    double sum = 0, weights = 0;
    for (int e = -4; e < 8; ++e) {
      const double weight = std::max(0.0, 1 - std::fabs(p - e) / 2);
      sum += weight * (std::min(std::max(e, 0), 3) + 1);
      weights += weight;
    }
    expected.push_back(sum / weights);
  }
  expect_near(numbers(run("resize", attributes, {kLine})), expected);
}

TEST(Resize, CropAndExtrapolation) {
  Attributes crop = to({3}, "linear", "tf_crop_and_resize");
  crop.set("roi", std::string("0.5,1.5"));
  crop.set("extrapolation", 9.0);
  expect_near(numbers(run("resize", crop, {kLine})), {2.5, 4, 9});  // places 1.5, 3, 4.5
}

TEST(Resize, TwoDimensions) {
  const Constant x = f32({2, 2}, {1, 2, 3, 4});
  Attributes attributes = to({4, 2}, "linear", "half_pixel_symmetric");
  attributes.set("scales", std::string("2,1"));
  expect_near(numbers(run("resize", attributes, {x})), {1, 2, 1.5, 2.5, 2.5, 3.5, 3, 4});
}

TEST(Resize, Mistakes) {
  const TensorType x = type_of({4});
  EXPECT_EQ(error_of("resize", to({4, 4}, "linear"), {x}),
            "resize: to=[4,4] should have 1 numbers");
  EXPECT_NE(error_of("resize", to({0}, "linear"), {x}), "");
  EXPECT_EQ(error_of("resize", to({8}, "linear"), {type_of({4}, Scalar::I64)}),
            "resize: is for floats, not for i64");
  Attributes scales = to({8}, "linear");
  for (const char* text : {"", "0", "-1", "nan", "1,2", "1;2", "inf"}) {
    scales.set("scales", std::string(text));
    EXPECT_NE(error_of("resize", scales, {x}), "") << text;
  }
  EXPECT_NE(error_of("resize", to({8}, "linear", "tf_crop_and_resize"), {x}), "");
  Attributes wide = to({1}, "linear");
  wide.set("antialias", int64_t{1});
  EXPECT_NE(error_of("resize", wide, {type_of({int64_t{1} << 30})}), "");  // too many taps
}

}  // namespace
}  // namespace tilewright::graph
