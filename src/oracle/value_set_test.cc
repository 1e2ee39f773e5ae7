// The rules for exactness, and the inputs that they select.
#include "oracle/value_set.h"

#include <gtest/gtest.h>

#include <cmath>

#include "oracle/input_values.h"
#include "oracle/value_analysis.h"
#include "task/parse.h"

namespace tilewright::oracle {
namespace {

constexpr ValueSet whole(double low, double high) { return {low, high, 0, true}; }

ValueSet binary(ir::BinaryOp op, ir::Scalar type, const ValueSet& a, const ValueSet& b) {
  bool hazard = false;
  return binary_set(op, type, a, b, false, hazard);
}

TEST(ValueSet, DetectsExactResults) {
  using enum ir::BinaryOp;
  using enum ir::Scalar;
  const ValueSet large = whole(0, 0x1p24), half = constant_set(0.5);
  EXPECT_TRUE(binary(Add, F32, whole(0, 0x1p23), whole(0, 0x1p23)).exact);
  EXPECT_FALSE(binary(Add, F32, large, whole(0, 1)).exact);
  EXPECT_TRUE(binary(Add, F64, large, whole(0, 1)).exact);
  EXPECT_TRUE(binary(Mul, F32, large, half).exact);
  EXPECT_EQ(binary(Mul, F32, large, half).grid, -1);
  EXPECT_FALSE(binary(Add, F32, binary(Mul, F32, large, half), large).exact);
  EXPECT_FALSE(binary(Mul, F32, whole(-3, 3), constant_set(0.1F)).exact);
  EXPECT_TRUE(binary(Div, F32, whole(-3, 3), constant_set(4)).exact);
  EXPECT_FALSE(binary(Div, F32, whole(-3, 3), constant_set(3)).exact);
  EXPECT_TRUE(binary(Max, F32, whole(0, 1e30), constant_set(-INFINITY)).exact);
  EXPECT_TRUE(binary(Mul, I32, whole(-0x1p31, 0x1p31), whole(3, 3)).exact);  // it wraps
  EXPECT_EQ(binary(Mul, I8, whole(0, 100), whole(0, 2)).low, -128);
}

TEST(ValueSet, RoundsOnceOnACast) {
  bool hazard = false;
  EXPECT_TRUE(cast_set(ir::Scalar::F16, whole(0, 5000), ir::Scalar::F32, hazard).exact);
  EXPECT_TRUE(cast_set(ir::Scalar::BF16, whole(0, 5000), ir::Scalar::F32, hazard).exact);
  EXPECT_FALSE(hazard);
  EXPECT_FALSE(cast_set(ir::Scalar::F16, whole(0, 70000), ir::Scalar::F32, hazard).exact);
  EXPECT_TRUE(hazard);
}

TEST(ValueSet, SumsFitTheMantissa) {
  bool hazard = false;
  const auto sum = [&](double count, ir::Scalar type) {
    return fold_set(ir::BinaryOp::Add, type, whole(-64, 64), count, hazard);
  };
  EXPECT_TRUE(sum(0x1p18, ir::Scalar::F32).exact);
  EXPECT_FALSE(sum(0x1p18 + 1, ir::Scalar::F32).exact);
  EXPECT_TRUE(sum(0x1p40, ir::Scalar::F64).exact);
  EXPECT_EQ(sum(10, ir::Scalar::F32).high, 640);
  EXPECT_TRUE(fold_set(ir::BinaryOp::Mul, ir::Scalar::F32, whole(-1, 1), 1e6, hazard).exact);
  EXPECT_FALSE(fold_set(ir::BinaryOp::Mul, ir::Scalar::F32, whole(-2, 2), 25, hazard).exact);
  EXPECT_FALSE(hazard);
}

TEST(ValueSet, ReportsHazards) {
  const auto call = [](ir::Intrinsic function, double low, double high) {
    bool hazard = false;
    call_set(function, ir::Scalar::F32, whole(low, high), {}, hazard);
    return hazard;
  };
  EXPECT_TRUE(call(ir::Intrinsic::Log, 0, 1));
  EXPECT_FALSE(call(ir::Intrinsic::Log, 0.5, 1));
  EXPECT_TRUE(call(ir::Intrinsic::Sqrt, -1, 1));
  EXPECT_FALSE(call(ir::Intrinsic::Sqrt, 0, 1));
  EXPECT_TRUE(call(ir::Intrinsic::Rsqrt, 0, 1));
  EXPECT_TRUE(call(ir::Intrinsic::Exp, 0, 100));
  EXPECT_FALSE(call(ir::Intrinsic::Exp, -1000, 10));
}

struct Planned {
  const char* text;
  size_t operand;
  InputRange range;
};

TEST(InputValues, DependOnTheUseOfAnInput) {
  constexpr InputRange kFractions{-1, 1, false, true, 3};
  const Planned cases[] = {
      {"matmul:m=4,n=4,k=512", 0, {-127, 127, true, true}},
      {"matmul:m=4,n=4,k=100000", 0, {-8, 8, true, true}},
      {"matmul:m=4,n=4,k=100000000", 0, kFractions},
      {"matmul:m=4,n=4,k=64,dtype=i8", 0, {-128, 127, true, true}},
      {"matmul:m=4,n=4,k=64,dtype=i64", 0, {-8388607, 8388607, true, true}},
      {"reduce:op=max,shape=4x9,axes=1", 0, {-8388607, 8388607, true, true}},
      {"reduce:op=max,shape=4x9,axes=1,dtype=bf16", 0, {-255, 255, true, true}},
      {"gather:shape=50x4,axis=0,indices=9", 1, {0, 49, true, true}},
      {"gather:shape=50x4,axis=1,indices=9,index=i32", 1, {0, 3, true, true}},
      {"one_hot:shape=9,depth=6,axis=1", 0, {0, 5, true, true}},
      {"elementwise:shape=4,chain=exp", 0, kFractions},
      {"elementwise:shape=4,chain=log", 0, {0.5, 1.5, false, false, 3}},
      {"elementwise:shape=4,chain=log+sqrt", 0, {2, 4, false, false, 3}},
      {"binary:op=div,a=4,b=4", 0, kFractions},
      {"binary:op=div,a=4,b=4", 1, {0.5, 1.5, false, false, 3}},
      {"reduce:op=prod,shape=4x1000,axes=1", 0, {-1, 1, true, false}},
      {"norm:b=2,m=4,n=9", 0, {-4, 4, true, true}},
      {"softmax:m=4,n=9", 0, kFractions},
  };
  for (const Planned& one : cases) {
    const Result<Workload> workload = parse_workload(one.text);
    ASSERT_TRUE(workload) << workload.error().message;
    const Result<InputPlan> plan = plan_inputs(*workload);
    ASSERT_TRUE(plan) << plan.error().message;
    const InputRange& range = plan->operands[one.operand];
    EXPECT_EQ(range, one.range) << one.text << ": " << range.low << " to " << range.high;
    Rng rng(1);
    for (int k = 0; k < 1000; ++k) {
      const double value = draw_value(rng, range, k % 2 == 0);
      const double extreme = k % 2 == 0 ? range.extreme : 1;
      EXPECT_TRUE(value >= std::min(range.low, range.low * extreme));
      EXPECT_TRUE(value <= range.high * extreme);
      EXPECT_TRUE(range.zero || value != 0);
      EXPECT_TRUE(!range.whole || value == std::floor(value));
    }
  }
}

}  // namespace
}  // namespace tilewright::oracle
