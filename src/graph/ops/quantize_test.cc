#include <cmath>

#include "graph/ops/testing.h"

namespace tilewright::graph {
namespace {

using ir::Scalar;

TEST(Quantize, RoundsToEvenAndSaturates) {
  const Constant x = f32({0, 1, 3, 5, -1000, 1000});
  const Constant y = run("quantize_linear", {}, {x, f32({}, {2}), constant(Scalar::U8, {}, {128})});
  EXPECT_EQ(y.type().element, Scalar::U8);
  EXPECT_EQ(numbers(y), (Numbers{128, 128, 130, 130, 0, 255}));
  const Constant z = run("quantize_linear", {{"to", std::string("i8")}}, {x, f32({}, {2})});
  EXPECT_EQ(numbers(z), (Numbers{0, 0, 2, 2, -128, 127}));
}

TEST(Quantize, ByChannelAndByBlock) {
  const Constant x = f32({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Attributes rows = {{"axis", int64_t{0}}, {"to", std::string("i8")}};
  EXPECT_EQ(numbers(run("quantize_linear", rows, {x, f32({1, 0.5})})),
            (Numbers{1, 2, 3, 4, 10, 12, 14, 16}));
  const Attributes columns = {{"axis", int64_t{1}}, {"to", std::string("i8")}};
  EXPECT_EQ(numbers(run("quantize_linear", columns, {x, f32({2, 2}, {1, 0.5, 1, 2})})),
            (Numbers{1, 2, 6, 8, 5, 6, 4, 4}));
}

TEST(Dequantize, IsTheReverse) {
  const Constant x = constant(Scalar::U8, {2, 2}, {0, 128, 255, 130});
  EXPECT_EQ(
      numbers(run("dequantize_linear", {}, {x, f32({}, {0.5}), constant(Scalar::U8, {}, {128})})),
      (Numbers{-64, 0, 63.5, 1}));
  EXPECT_EQ(numbers(run("dequantize_linear", {{"axis", int64_t{-1}}},
                        {x, f32({1, 2}), constant(Scalar::U8, {2}, {0, 128})})),
            (Numbers{0, 0, 255, 4}));
}

TEST(Dequantize, U32MinusItsZeroPointMayBeNegative) {
  const Constant x = constant(Scalar::U32, {2}, {4294967295, 1});
  const Constant zero = constant(Scalar::U32, {}, {4294967295});
  EXPECT_EQ(numbers(run("dequantize_linear", {}, {x, f32({}, {0.5}), zero})),
            (Numbers{0, -2147483648}));
}

TEST(BatchNorm, ByChannel) {
  const Constant x = f32({1, 2, 2}, {1, 2, 3, 4});
  const Constant y = run("batch_norm", {{"epsilon", 0.0}},
                         {x, f32({2, 1}), f32({10, 20}), f32({1, 3}), f32({4, 0.25})});
  expect_near(numbers(y), {10, 11, 20, 22});
  const Constant last = run("batch_norm", {{"epsilon", 1.0}, {"axis", int64_t{-1}}},
                            {x, f32({2, 1}), f32({0, 0}), f32({0, 0}), f32({3, 0})});
  expect_near(numbers(last), {1, 2, 3, 4});
}

TEST(Quantize, Mistakes) {
  const TensorType x = type_of({2, 4}), s = type_of({}), u = type_of({}, Scalar::U8);
  EXPECT_EQ(error_of("quantize_linear", {}, {x, s}), "quantize_linear: to= is not a type");
  EXPECT_EQ(error_of("quantize_linear", {{"axis", int64_t{2}}},
                     {x, type_of({3}), type_of({3}, Scalar::U8)}),
            "quantize_linear: there is no axis 2 among 2 dimensions");
  EXPECT_EQ(error_of("quantize_linear", {}, {x, type_of({3}), type_of({3}, Scalar::U8)}),
            "quantize_linear: a scale of [3] along dimension 1 of f32[2,4]");
  EXPECT_EQ(error_of("dequantize_linear", {}, {x, s, u}),
            "dequantize_linear: is for integers, not for f32");
  EXPECT_EQ(error_of("dequantize_linear", {}, {type_of({4}, Scalar::I8), s, u}),
            "dequantize_linear: zero of u8[] for i8[4]");
  const TensorType c = type_of({4});
  EXPECT_EQ(error_of("batch_norm", {}, {x, c, c, type_of({3}), c}),
            "batch_norm: mean is f32[3]; it should have a float for each of 4 channels");
}

}  // namespace
}  // namespace tilewright::graph
