// Bounds are 0 where nothing is rounded, hold where something is, and are not made up where a
// decision hangs on it.
#include "te/rounding_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "te/ops/table.h"

namespace tilewright::te {
namespace {

// The first element of the output, with inputs of one value.
Bounded first_element(const char* text, double input) {
  const std::shared_ptr<const Dag> dag = parse_operator(text).value().dag;
  RoundingBound bound(*dag, [input](TensorId, int64_t) { return input; });
  const TensorId output = dag->outputs()[0];
  return bound.element(output, std::vector<int64_t>(dag->tensor(output).shape.size(), 0));
}

TEST(RoundingBound, IsZeroWhereNothingIsRounded) {
  const Bounded sum = first_element("matmul:m=1,n=1,k=1000", 3);
  EXPECT_EQ(sum.value, 9000);
  EXPECT_EQ(sum.error, 0);
  EXPECT_EQ(first_element("elementwise:shape=1,chain=scale(0.5)+square", 3).error, 0);
  EXPECT_EQ(first_element("reduce:op=prod,shape=10,axes=0", 3).error, 0);
  EXPECT_EQ(first_element("matmul:m=1,n=1,k=9,dtype=i8", 100).error, 0);
  EXPECT_EQ(first_element("reduce:op=min,shape=10,axes=0,dtype=i64", 3).value, 3);
  EXPECT_EQ(first_element("reduce:op=max,shape=10,axes=0,dtype=i64", -3).value, -3);
  // 49 is exact in f16 storage, and so are values that round equally in any order.
  EXPECT_EQ(first_element("matmul:m=1,n=1,k=1,dtype=f16", 7).error, 0);
  EXPECT_EQ(first_element("matmul:m=1,n=1,k=100,dtype=f16", 63).error, 0);
}

TEST(RoundingBound, CoversRoundedResults) {
  const std::shared_ptr<const Dag> dag = parse_operator("matmul:m=1,n=1,k=1000").value().dag;
  const auto input = [](TensorId tensor, int64_t offset) {  // signs that do not cancel
    return static_cast<double>(
        static_cast<float>(1.1 + std::sin(3.7 * static_cast<double>(offset + 10 * tensor))));
  };
  float sum = 0;
  for (int k = 0; k < 1000; ++k) sum += static_cast<float>(input(0, k) * input(1, k));
  const Bounded bound = RoundingBound(*dag, input).element(dag->outputs()[0], {{0, 0}});
  EXPECT_GT(bound.error, 0);
  EXPECT_LT(bound.error, 0.02);
  EXPECT_LE(std::abs(bound.value - sum), bound.error);
  // 2^24 + 1 does not fit, though each product does.
  EXPECT_GT(first_element("matmul:m=1,n=1,k=3", 4095).error, 0);
  EXPECT_GT(first_element("elementwise:shape=1,chain=exp", 1).error, 0);
  EXPECT_LT(first_element("elementwise:shape=1,chain=exp", 1).error, 1e-5);
}

TEST(RoundingBound, CoversBothArmsOfASelect) {
  const Bounded leaky = first_element("elementwise:shape=1,chain=exp+shift(-1)+leaky", 0);
  EXPECT_GT(leaky.error, 0);
  EXPECT_LT(leaky.error, 1e-5);
  EXPECT_LT(first_element("elementwise:shape=1,chain=exp+leaky", 0).error, 1e-5);
  EXPECT_NEAR(first_element("elementwise:shape=1,chain=exp+floor", 0).error, 1, 1e-5);  // 1 or 0
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kDenormal = 0x1p-130;

// C[0, 0] of a product of rows of A and columns of B.
Bounded product(const std::vector<double>& a, const std::vector<double>& b,
                bool denormals = false) {
  const std::shared_ptr<const Dag> dag =
      parse_operator("matmul:m=1,n=1,k=" + std::to_string(a.size())).value().dag;
  const InputReader read = [&](TensorId tensor, int64_t offset) {
    return (tensor == 0 ? a : b)[static_cast<size_t>(offset)];
  };
  return RoundingBound(*dag, read, denormals).element(dag->outputs()[0], {{0, 0}});
}

TEST(RoundingBound, NanAndInfinityDoNotDependOnTheOrder) {
  const double third = static_cast<double>(1.0F / 3);
  EXPECT_TRUE(std::isnan(product({third, kNan, 3}, {third, third, third}).value));
  EXPECT_EQ(product({third, kNan, 3}, {third, third, third}).error, 0);
  EXPECT_EQ(product({third, kInfinity, -3}, {third, third, third}).value, kInfinity);
  EXPECT_EQ(product({third, kInfinity, -3}, {third, third, third}).error, 0);
  EXPECT_TRUE(std::isnan(product({kInfinity, kInfinity, 1}, {third, -third, third}).value));
  EXPECT_EQ(product({kInfinity, kInfinity, 1}, {third, -third, third}).error, 0);
  EXPECT_TRUE(std::isnan(product({kInfinity, 1}, {0, third}).value));
  EXPECT_EQ(product({kInfinity, 1}, {0, third}).error, 0);
  for (const char* chain : {"exp", "relu", "square", "sigmoid", "tanh"}) {
    const std::string text = std::string("elementwise:shape=1,chain=shift(0.1)+") + chain;
    EXPECT_TRUE(std::isnan(first_element(text.c_str(), kNan).value)) << chain;
    EXPECT_EQ(first_element(text.c_str(), kNan).error, 0) << chain;
  }
  EXPECT_EQ(first_element("elementwise:shape=1,chain=shift(0.1)+exp", kInfinity).value, kInfinity);
  EXPECT_EQ(first_element("elementwise:shape=1,chain=shift(0.1)+exp", kInfinity).error, 0);
}

TEST(RoundingBound, DenormalsAreZerosUnlessTheyAreKept) {
  // 2^-130 * 2^100: 0 if the operand counts as zero.
  EXPECT_EQ(product({kDenormal}, {0x1p100}).value, 0);
  EXPECT_EQ(product({kDenormal}, {0x1p100}).error, 0);
  EXPECT_EQ(product({kDenormal}, {0x1p100}, true).value, 0x1p-30);
  EXPECT_EQ(product({kDenormal}, {0x1p100}, true).error, 0);
  // A result may be flushed, or be added before it is.
  const Bounded small = product({0x1p-70, 1}, {0x1p-70, 0});
  EXPECT_LE(small.value, small.error);
  EXPECT_LT(small.error, 0x1p-120);
  EXPECT_EQ(product({0x1p-70, 1}, {0x1p-70, 0}, true).error, 0);
  // So may a difference: 3 * 2^-127 - 2^-126.
  const Bounded rest = product({0x1.8p-126, -0x1p-126}, {1, 1});
  EXPECT_LE(rest.value, rest.error);
  EXPECT_EQ(product({0x1.8p-126, -0x1p-126}, {1, 1}, true).error, 0);
}

TEST(RoundingBound, IsUnknownForUnboundedErrors) {
  EXPECT_TRUE(std::isinf(first_element("elementwise:shape=1,chain=exp+shift(-1)+log", 0).error));
}

}  // namespace
}  // namespace tilewright::te
