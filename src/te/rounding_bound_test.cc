// Bounds are 0 where nothing is rounded, hold where something is, and are not made up where a
// decision hangs on it.
#include "te/rounding_bound.h"

#include <gtest/gtest.h>

#include <cmath>

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
  // 49 in f16 storage is exact, and so is what rounds the same for all.
  EXPECT_EQ(first_element("matmul:m=1,n=1,k=1,dtype=f16", 7).error, 0);
  EXPECT_EQ(first_element("matmul:m=1,n=1,k=100,dtype=f16", 63).error, 0);
}

TEST(RoundingBound, HoldsWhereSomethingIs) {
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

TEST(RoundingBound, CoversBothWaysOfADecision) {
  const Bounded leaky = first_element("elementwise:shape=1,chain=exp+shift(-1)+leaky", 0);
  EXPECT_GT(leaky.error, 0);
  EXPECT_LT(leaky.error, 1e-5);
  EXPECT_LT(first_element("elementwise:shape=1,chain=exp+leaky", 0).error, 1e-5);
  EXPECT_NEAR(first_element("elementwise:shape=1,chain=exp+floor", 0).error, 1, 1e-5);  // 1 or 0
}

TEST(RoundingBound, IsUnknownWhereItCannotBeTold) {
  EXPECT_TRUE(std::isinf(first_element("elementwise:shape=1,chain=exp+shift(-1)+log", 0).error));
}

}  // namespace
}  // namespace tilewright::te
