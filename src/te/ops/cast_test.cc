#include "te/ops/cast.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "te/ops/conv_testing.h"

namespace tilewright::te {
namespace {

double cast_of(double value, const char* from, const char* to) {
  const auto instance = parse_operator(fmt::format("cast:shape=1,from={},to={}", from, to));
  Evaluator evaluator(*instance->dag, [&](TensorId, int64_t) { return value; });
  const int64_t zero = 0;
  return evaluator.element(instance->dag->outputs()[0], {&zero, 1});
}

TEST(Cast, FollowsCastSemantics) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(cast_of(-2.75, "f32", "i8"), -2);
  EXPECT_EQ(cast_of(300, "f32", "i8"), 127);
  EXPECT_EQ(cast_of(-5, "f32", "u8"), 0);
  EXPECT_EQ(cast_of(std::nan(""), "f64", "i32"), 0);
  EXPECT_EQ(cast_of(300, "i32", "i8"), 44);
  EXPECT_EQ(cast_of(-1, "i8", "u8"), 255);
  EXPECT_EQ(cast_of(70000, "f32", "u16"), 65535);
  EXPECT_EQ(cast_of(-1, "i32", "u32"), 4294967295);
  EXPECT_EQ(cast_of(4294967295, "u32", "i32"), -1);
  EXPECT_EQ(cast_of(0.25, "f16", "bool"), 1);
  EXPECT_EQ(cast_of(0, "i32", "bool"), 0);
  EXPECT_EQ(cast_of(1, "bool", "f32"), 1);
  EXPECT_EQ(cast_of(2049, "f32", "f16"), 2048);
  EXPECT_EQ(cast_of(1e6, "f64", "f16"), inf);
  EXPECT_EQ(cast_of(257, "i32", "bf16"), 256);
}

TEST(Cast, EveryPairOfTypesKeepsSmallIntegers) {
  const char* const types[] = {"bool", "i8",   "i16", "i32", "i64", "u8",
                               "f16",  "bf16", "f32", "f64", "u16", "u32"};
  for (const char* from : types) {
    for (const char* to : types) {
      const Evaluated op(fmt::format("cast:shape=2x3,from={},to={}", from, to), 0, 1);
      EXPECT_EQ(op.output, op.inputs.at("X")) << from << " to " << to;
      EXPECT_EQ(ir::name_of(op.dag->tensor(1).element), to);
    }
  }
}

TEST(Cast, Mistakes) {
  const Mistake mistakes[] = {
      {"cast:shape=4,from=f32", "cast needs parameter to"},
      {"cast:shape=4,from=f32,to=f8", "parameter to: 'f8' is not a type"},
      {"cast:shape=1x1x1x1x1x1x1x1x1x1x1,from=f32,to=i8", "a shape of 11 dimensions"},
  };
  for (const Mistake& mistake : mistakes) expect_refused(mistake);
}

}  // namespace
}  // namespace tilewright::te
