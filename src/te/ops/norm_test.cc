#include "te/ops/norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

TEST(Norm, EqualsTheRootOfTheSumOfSquares) {
  for (const char* dtype : {"f32", "f64"}) {
    const Evaluated norms(std::string("norm:b=3,m=4,n=5,dtype=") + dtype);
    ASSERT_THAT(norms.shape, ::testing::ElementsAre(3));
    for (int64_t b = 0; b < 3; ++b) {
      double sum = 0;
      for (int64_t k = 0; k < 20; ++k) sum += std::pow(norms.in("X", b * 20 + k), 2);
      EXPECT_DOUBLE_EQ(norms.output[static_cast<size_t>(b)], std::sqrt(sum));
    }
  }
}

TEST(Norm, F16ResultsAreRoundedOnce) {
  const Evaluated norms("norm:m=40,n=50,dtype=f16", 0, 100);
  double sum = 0;
  for (int64_t k = 0; k < 2000; ++k) sum += std::pow(norms.in("X", k), 2);
  EXPECT_EQ(norms.output[0], ir::convert(std::sqrt(sum), ir::Scalar::F16));
}

TEST(Norm, LayerNormEqualsItsDefinition) {
  const int64_t m = 3, n = 7;
  for (const double eps : {1e-5, 0.5}) {
    const Evaluated rows("layer_norm:m=3,n=7,eps=" + std::to_string(eps));
    for (int64_t i = 0; i < m; ++i) {
      double mean = 0, variance = 0;
      for (int64_t k = 0; k < n; ++k) mean += rows.in("X", i * n + k) / 7;
      for (int64_t k = 0; k < n; ++k) variance += std::pow(rows.in("X", i * n + k) - mean, 2) / 7;
      for (int64_t j = 0; j < n; ++j) {
        const double expected =
            (rows.in("X", i * n + j) - mean) / std::sqrt(variance + eps) * rows.in("scale", j) +
            rows.in("shift", j);
        EXPECT_NEAR(rows.output[static_cast<size_t>(i * n + j)], expected, 1e-6);
      }
    }
  }
}

// The variance of numbers far from zero: the difference of two sums would have no digit left.
TEST(Norm, LayerNormOfLargeValuesIsAccurate) {
  const Evaluated spread("layer_norm:m=1,n=64,eps=0,dtype=f64", 1'000'000'000, 1'000'000'008);
  double mean = 0, variance = 0;
  for (int64_t k = 0; k < 64; ++k) mean += (spread.in("X", k) - 1e9) / 64;
  for (int64_t k = 0; k < 64; ++k) variance += std::pow(spread.in("X", k) - 1e9 - mean, 2) / 64;
  for (int64_t k = 0; k < 64; ++k) {
    const double expected =
        (spread.in("X", k) - 1e9 - mean) / std::sqrt(variance) * spread.in("scale", k) +
        spread.in("shift", k);
    EXPECT_NEAR(spread.output[static_cast<size_t>(k)], expected, 1);
  }
}

TEST(Norm, RmsNormEqualsItsDefinition) {
  const Evaluated rows("rms_norm:m=3,n=5,eps=0.25,dtype=f64");
  for (int64_t i = 0; i < 3; ++i) {
    double squares = 0;
    for (int64_t k = 0; k < 5; ++k) squares += std::pow(rows.in("X", i * 5 + k), 2);
    for (int64_t j = 0; j < 5; ++j) {
      EXPECT_DOUBLE_EQ(
          rows.output[static_cast<size_t>(i * 5 + j)],
          rows.in("X", i * 5 + j) / std::sqrt(squares / 5 + 0.25) * rows.in("scale", j));
    }
  }
}

TEST(Norm, Flop) {
  EXPECT_EQ(norm(2, 256, 256)->flop(), 2.0 * 2 * 256 * 256);
  EXPECT_EQ(layer_norm({.m = 64, .n = 32})->flop(), 8.0 * 64 * 32);
  EXPECT_EQ(rms_norm({.m = 64, .n = 32})->flop(), 4.0 * 64 * 32);
}

TEST(Norm, StagesAndTheirTypes) {
  std::vector<std::string> stages;
  const auto dag = layer_norm({.m = 4, .n = 8, .element = ir::Scalar::BF16});
  for (const Tensor& tensor : dag->tensors()) {
    stages.push_back(tensor.name.text() + ":" + std::string(ir::name_of(tensor.element)));
  }
  EXPECT_THAT(stages, ::testing::ElementsAre("X:bf16", "scale:bf16", "shift:bf16", "S:f32", "A:f32",
                                             "V:f32", "R:f32", "Y:bf16"));
}

TEST(Norm, Mistakes) {
  const Mistake mistakes[] = {
      {"norm:m=4,n=4,dtype=i32", "norm: dtype i32 is not supported"},
      {"layer_norm:m=4,n=4,dtype=i8", "layer_norm: dtype i8 is not supported"},
      {"layer_norm:m=4,n=4,eps=-1", "layer_norm: eps=-1 is negative; legal are 0 and more"},
      {"layer_norm:m=4,n=4,eps=small", "parameter eps: 'small' is not a number"},
      {"rms_norm:m=4,n=4,eps=inf", "parameter eps: 'inf' is not a number"},
      {"rms_norm:m=4", "rms_norm needs parameter n"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
