#include "ir/expr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/fold.h"
#include "ir/print.h"

namespace tilewright::ir {
namespace {

constexpr Type kF16{Scalar::F16, 1};
constexpr Type kI32{Scalar::I32, 1};

TEST(ExprTest, ReferencesAreCounted) {
  Expr i = var("i");
  EXPECT_EQ(i.get()->references, 1u);
  {
    Expr sum = i + i;
    EXPECT_EQ(i.get()->references, 3u);
    const Expr both = sum + sum;
    EXPECT_EQ(sum.get()->references, 3u);
    EXPECT_EQ(i.get()->references, 3u);
  }
  EXPECT_EQ(i.get()->references, 1u);
}

TEST(ExprTest, MakersCheckTypes) {
  const Expr i = var("i"), f = var("f", kF32), h = var("h", kF16), b = var("b", kBool);
  const Expr narrow = var("n", kI32), v = var("v", kF32.with_lanes(8));
  EXPECT_THROW(i + f, InternalError);
  EXPECT_THROW(i + narrow, InternalError);
  EXPECT_THROW(f + v, InternalError);
  EXPECT_THROW(h + h, InternalError);
  EXPECT_THROW(h < h, InternalError);
  EXPECT_THROW(f % f, InternalError);
  EXPECT_THROW(b + b, InternalError);
  EXPECT_THROW(b < b, InternalError);
  EXPECT_THROW(i && i, InternalError);
  EXPECT_THROW(binary(BinaryOp::BitAnd, f, f), InternalError);
  EXPECT_THROW(i + Expr{}, InternalError);
  EXPECT_THROW(fma(i, i, i), InternalError);
  EXPECT_THROW(fma(f, f, v), InternalError);
  EXPECT_THROW(select(i, f, f), InternalError);
  EXPECT_THROW(select(b, f, i), InternalError);
  EXPECT_THROW(select(b, v, v), InternalError);
  EXPECT_THROW(exp(i), InternalError);
  EXPECT_THROW(exp(h), InternalError);
  EXPECT_THROW(call(Intrinsic::Pow, {f}), InternalError);
  EXPECT_THROW(call(Intrinsic::Not, {i}), InternalError);
  EXPECT_THROW(call(Intrinsic::Bitcast, {i}), InternalError);
  EXPECT_THROW(bitcast(Scalar::I64, f), InternalError);
  EXPECT_THROW(load(Scalar::F32, 0, {narrow}), InternalError);
  EXPECT_THROW(load(Scalar::F32, 0, {i, ramp(i, 1, 4)}), InternalError);
  EXPECT_THROW(load(kF32.with_lanes(8), 0, {ramp(i, 1, 4)}), InternalError);
  EXPECT_THROW(ramp(f, 1, 4), InternalError);
  EXPECT_THROW(ramp(i, 1, 0), InternalError);
  EXPECT_THROW(broadcast(v, 4), InternalError);
  EXPECT_THROW(broadcast(f, 70000), InternalError);
  EXPECT_THROW(vector_reduce(BinaryOp::Sub, v), InternalError);
  const Expr sums = var("s", {Scalar::I32, 16}), bytes = var("a", {Scalar::U8, 4});
  const Expr rows = var("b", {Scalar::I8, 64});
  EXPECT_NO_THROW(dot(sums, bytes, rows));
  EXPECT_THROW(dot(sums, bytes, var("b", {Scalar::I8, 32})), InternalError);
  EXPECT_NO_THROW(dot(sums, var("a", {Scalar::I8, 4}), rows));
  EXPECT_THROW(dot(sums, var("a", {Scalar::I32, 4}), rows), InternalError);
  const Expr real = var("s", {Scalar::F32, 16});
  for (const Scalar half : {Scalar::F16, Scalar::BF16}) {
    EXPECT_NO_THROW(dot(real, var("a", {half, 2}), var("b", {half, 32})));
  }
  EXPECT_THROW(dot(real, var("a", {Scalar::F16, 2}), var("b", {Scalar::BF16, 32})), InternalError);
  const Expr wide = var("s", {Scalar::F64, 16});
  const Expr x = var("x", {Scalar::F64, 2}), y = var("y", {Scalar::F64, 32});
  EXPECT_NO_THROW(dot(wide, x, y));
  EXPECT_THROW(dot(wide, x, y, 1, {}, DotRounding::DescendingFlushed), InternalError);
  EXPECT_THROW(dot(real, x, y), InternalError);
  EXPECT_THROW(dot(sums, var("a", {Scalar::F16, 2}), var("b", {Scalar::F16, 32})), InternalError);
  EXPECT_THROW(dot(var("s", {Scalar::F32, 16}), bytes, rows), InternalError);
  EXPECT_THROW(int_imm(256, Type{Scalar::U8, 1}), InternalError);
  EXPECT_THROW(int_imm(1, kF32), InternalError);
  EXPECT_THROW(float_imm(1, kIndex), InternalError);
}

TEST(ExprTest, ResultTypes) {
  const Expr i = var("i"), v = var("v", kF32.with_lanes(8));
  EXPECT_EQ((i < i).type(), kBool);
  EXPECT_EQ((v < v).type(), kBool.with_lanes(8));
  EXPECT_EQ(load(Scalar::F16, 3, {ramp(i, 1, 8)}).type(), kF16.with_lanes(8));
  EXPECT_EQ(load(kF32.with_lanes(16), 3, {int_imm(0)}).type(), kF32.with_lanes(16));
  EXPECT_EQ(load(Scalar::F16, 3, {}).type(), kF16);
  EXPECT_EQ(vector_reduce(BinaryOp::Add, v).type(), kF32);
  EXPECT_EQ(bitcast(Scalar::I32, v).type(), kI32.with_lanes(8));
  EXPECT_EQ(cast(Scalar::F64, v).type(), (Type{Scalar::F64, 8}));
  EXPECT_TRUE(cast(Scalar::F32, v).same_as(v));
  EXPECT_TRUE(broadcast(i, 1).same_as(i));
  EXPECT_TRUE(ramp(i, 3, 1).same_as(i));
}

TEST(ExprTest, ConstantsFold) {
  const auto n = [](int64_t value) { return int_imm(value); };
  const auto f = [](double value) { return float_imm(value, kF32); };
  const Type i8{Scalar::I8, 1};
  struct Case {
    Expr expr;
    const char* text;
  };
  const Case cases[] = {
      {n(7) + n(-9), "-2"},
      {n(-7) / n(2), "-4"},
      {n(7) / n(-2), "-4"},
      {n(-7) % n(2), "1"},
      {n(7) % n(-2), "-1"},
      {n(1) / n(0), "1 / 0"},
      {n(1) % n(0), "1 % 0"},
      {n(INT64_MIN) / n(-1), "-9223372036854775808"},
      {n(INT64_MAX) + n(1), "-9223372036854775808"},
      {int_imm(100, i8) + int_imm(100, i8), "i8(-56)"},
      {n(3) < n(4), "true"},
      {min(n(3), n(4)), "3"},
      {binary(BinaryOp::ShiftRight, n(-8), n(1)), "-4"},
      {binary(BinaryOp::ShiftLeft, int_imm(1, i8), int_imm(7, i8)), "i8(-128)"},
      {binary(BinaryOp::ShiftLeft, n(1), n(64)), "1 << 64"},
      {binary(BinaryOp::BitXor, n(6), n(3)), "5"},
      {(n(1) < n(2)) && (n(2) < n(1)), "false"},
      {f(0.1) + f(0.2), "0.3"},
      {f(1) / f(0), "inf"},
      {max(f(1), f(NAN)), "nan"},
      {min(f(NAN), f(1)), "nan"},
      {fma(f(2), f(3), f(1)), "7.0"},
      {cast(Scalar::I8, n(300)), "i8(44)"},
      {cast(Scalar::U32, n(-1)), "u32(4294967295)"},
      {int_imm(3, {Scalar::U16, 1}) - int_imm(4, {Scalar::U16, 1}), "u16(65535)"},
      {cast(Scalar::I8, f(300)), "i8(127)"},
      {cast(Scalar::F16, f(0.1)), "f16(0.099975586)"},
      {cast(Scalar::F32, n(16777217)), "16777216.0"},
      {cast(Scalar::Bool, n(2)), "true"},
      {call(Intrinsic::Neg, {f(0)}), "-0.0"},
      {call(Intrinsic::Not, {n(1) < n(2)}), "false"},
      {call(Intrinsic::Round, {f(2.5)}), "2.0"},
      {call(Intrinsic::Ldexp, {f(3), f(2)}), "12.0"},
      {exp(f(0)), "exp(0.0)"},
      {bitcast(Scalar::I32, f(1)), "i32(1065353216)"},
      {bitcast(Scalar::U32, f(-1)), "u32(3212836864)"},
      {bitcast(Scalar::I16, float_imm(-1, {Scalar::F16, 1})), "i16(-17408)"},
      {bitcast(Scalar::U16, float_imm(-1, {Scalar::F16, 1})), "u16(48128)"},
      {bitcast(Scalar::F32, int_imm(1065353216, kI32)), "1.0"},
      {int_imm(3, kIndex.with_lanes(4)) + int_imm(4, kIndex.with_lanes(4)), "x4(7)"},
      {int_imm(3, kIndex.with_lanes(4)) < int_imm(4, kIndex.with_lanes(4)), "x4(true)"},
  };
  for (const Case& c : cases) EXPECT_EQ(to_string(c.expr), c.text);
}

TEST(ExprTest, ConstantsAreRoundedToTheirType) {
  EXPECT_EQ(float_imm(0.1, kF32).as<FloatImm>()->value, static_cast<double>(0.1f));
  EXPECT_EQ(float_imm(2049, kF16).as<FloatImm>()->value, 2048);
  EXPECT_EQ(imm(3, kI32).as<IntImm>()->value, 3);
  EXPECT_EQ(imm(3, kF32).as<FloatImm>()->value, 3);
}

TEST(ExprTest, AsIntLooksThroughBroadcasts) {
  EXPECT_EQ(*as_int(int_imm(5)), 5);
  EXPECT_EQ(*as_int(int_imm(5, kIndex.with_lanes(4))), 5);
  EXPECT_EQ(as_int(var("i")), nullptr);
  EXPECT_EQ(as_int(float_imm(5, kF32)), nullptr);
}

TEST(ExprTest, UniformValues) {
  const Expr i = var("i");
  EXPECT_TRUE(uniform_value(i)->same_as(i));
  EXPECT_TRUE(uniform_value(broadcast(i, 4))->same_as(i));
  EXPECT_EQ(uniform_value(ramp(i, 1, 4)), nullptr);
}

TEST(ExprTest, WrappingArithmetic) {
  EXPECT_EQ(wrapping_sum(INT64_MAX, 2), INT64_MIN + 1);
  EXPECT_EQ(wrapping_product(INT64_MAX, 2), -2);
  EXPECT_EQ(wrapping_product(-3, 5), -15);
}

TEST(ExprTest, FloorDivisionAgreesWithItsDefinition) {
  for (int64_t a = -20; a <= 20; ++a) {
    for (int64_t b = -7; b <= 7; ++b) {
      if (b == 0) continue;
      EXPECT_EQ(floor_div(a, b),
                static_cast<int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b))));
      EXPECT_EQ(floor_mod(a, b), a - b * floor_div(a, b));
    }
  }
}

TEST(ExprTest, DeepTreesAreFreedWithoutRecursion) {
  Expr chain = var("i");
  for (int k = 0; k < 300000; ++k) chain = chain + 1;
  Expr right = var("i");
  for (int k = 0; k < 300000; ++k) right = int_imm(1) + right;
  Expr calls = var("x", kF32);
  for (int k = 0; k < 300000; ++k) calls = exp(calls);
  Expr loads = var("i");
  for (int k = 0; k < 100000; ++k) loads = load(Scalar::I64, 0, {loads, loads});
}

TEST(ExprTest, NamesOfOperators) {
  EXPECT_EQ(name_of(BinaryOp::Add), "+");
  EXPECT_EQ(name_of(BinaryOp::ShiftRight), ">>");
  EXPECT_EQ(name_of(BinaryOp::Max), "max");
  EXPECT_EQ(name_of(Intrinsic::Neg), "neg");
  EXPECT_EQ(name_of(Intrinsic::Bitcast), "bitcast");
  EXPECT_EQ(name_of(Intrinsic::Sigmoid), "sigmoid");
}

}  // namespace
}  // namespace tilewright::ir
