#include "graph/constant.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/check.h"

namespace tilewright::graph {
namespace {

TEST(Constant, KeepsLargeIntegersExactly) {
  const int64_t large[] = {std::numeric_limits<int64_t>::max(), -(int64_t{1} << 53) - 1};
  const Constant constant = Constant::of_integers({2}, large);
  EXPECT_EQ(constant.integer(0), large[0]);
  EXPECT_EQ(constant.integers()[1], large[1]);
  EXPECT_THROW(constant.integer(2), InternalError);
}

TEST(Constant, NumbersOfAnyType) {
  EXPECT_EQ(Constant::of_number(1.5, ir::Scalar::F16).number(0), 1.5);
  EXPECT_EQ(Constant::of_number(300, ir::Scalar::U8).number(0), 255);  // saturates
  EXPECT_EQ(Constant::of_number(1.5, ir::Scalar::F32).type().to_string(), "f32[]");
  EXPECT_THROW(Constant::of_number(1, ir::Scalar::F32).integer(0), InternalError);
}

TEST(Constant, EqualByTypeAndBytes) {
  const int64_t values[] = {1, 2, 3, 4};
  const Constant line = Constant::of_integers({4}, values);
  const Constant square = line.reshaped({2, 2});
  EXPECT_FALSE(line == square);
  EXPECT_TRUE(line == square.reshaped({4}));
  EXPECT_NE(line.hash(), square.hash());
  EXPECT_EQ(line.hash(), Constant::of_integers({4}, values).hash());
  EXPECT_EQ(line.bytes().data(), square.bytes().data());  // shared
  EXPECT_TRUE(Constant().empty());
}

TEST(TensorType, CountsWithoutOverflow) {
  const TensorType type{.element = ir::Scalar::F64, .shape = {int64_t{1} << 40, int64_t{1} << 40}};
  EXPECT_EQ(type.elements(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(type.bytes(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ((TensorType{.element = ir::Scalar::I16, .shape = {2, 3}}).bytes(), 12);
}

}  // namespace
}  // namespace tilewright::graph
