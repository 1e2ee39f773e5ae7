#include "ir/type.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/rng.h"

namespace tilewright::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Scalar kAll[] = {Scalar::Bool, Scalar::I8,  Scalar::I16, Scalar::I32,
                           Scalar::I64,  Scalar::U8,  Scalar::F16, Scalar::BF16,
                           Scalar::F32,  Scalar::F64, Scalar::U16, Scalar::U32};

TEST(TypeTest, NumbersInKeysStay) {
  EXPECT_EQ(static_cast<int>(Scalar::U8), 5);
  EXPECT_EQ(static_cast<int>(Scalar::F64), 9);
  EXPECT_EQ(static_cast<int>(Scalar::U32), 11);
  EXPECT_FALSE(is_float(Scalar::U16) || is_signed(Scalar::U32));
  EXPECT_TRUE(is_integer(Scalar::U16) && is_integer(Scalar::U32));
}

TEST(TypeTest, NamesRoundTrip) {
  for (Scalar s : kAll) EXPECT_EQ(scalar_named(name_of(s)), s);
  EXPECT_EQ(scalar_named("f8"), std::nullopt);
  EXPECT_EQ(to_string(Type{Scalar::F32, 16}), "f32x16");
  EXPECT_EQ(to_string(kBool), "bool");
}

TEST(TypeTest, SizesAndArithmeticTypes) {
  const int bytes[] = {1, 1, 2, 4, 8, 1, 2, 2, 4, 8, 2, 4};
  for (size_t k = 0; k < std::size(kAll); ++k) EXPECT_EQ(bytes_of(kAll[k]), bytes[k]);
  EXPECT_EQ(arithmetic_type(Scalar::F16), Scalar::F32);
  EXPECT_EQ(arithmetic_type(Scalar::BF16), Scalar::F32);
  EXPECT_EQ(arithmetic_type(Scalar::U8), Scalar::U8);
}

TEST(TypeTest, EveryF16RoundTrips) {
  for (uint32_t k = 0; k < 65536; ++k) {
    const auto bits = static_cast<uint16_t>(k);
    const float value = f32_from_f16(bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f32_from_f16(f16_from_f32(value)))) << k;
      continue;
    }
    ASSERT_EQ(f16_from_f32(value), bits) << k;
    ASSERT_EQ(convert(value, Scalar::F16), value) << k;
  }
}

TEST(TypeTest, EveryBf16RoundTrips) {
  for (uint32_t k = 0; k < 65536; ++k) {
    const auto bits = static_cast<uint16_t>(k);
    const float value = f32_from_bf16(bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f32_from_bf16(bf16_from_f32(value)))) << k;
      continue;
    }
    ASSERT_EQ(bf16_from_f32(value), bits) << k;
    ASSERT_EQ(convert(value, Scalar::BF16), value) << k;
  }
}

// Halfway between two adjacent values is a tie, which rounds to the even one; next to the tie, to
// the nearer one. The value after the largest finite one is infinity.
template <class ToF32, class FromF32>
void check_ties(uint16_t infinity, Scalar type, ToF32 to_f32, FromF32 from_f32) {
  for (uint16_t bits = 0; bits < infinity; ++bits) {
    const auto next = static_cast<uint16_t>(bits + 1);
    const double low = to_f32(bits);
    const double gap = low - (bits == 0 ? -static_cast<double>(to_f32(1)) : to_f32(bits - 1));
    // Above a power of two the gap doubles, but the largest finite value is none.
    const double high = next == infinity ? low + gap : static_cast<double>(to_f32(next));
    const double tie = low + (high - low) / 2;
    const auto tie_f32 = static_cast<float>(tie);
    const uint16_t even = bits % 2 == 0 ? bits : next;
    // In bf16 the lowest ties are below F32's denormals or need its last bit; they are exact.
    ASSERT_EQ(static_cast<double>(tie_f32), tie);
    ASSERT_EQ(from_f32(tie_f32), even) << bits;
    ASSERT_EQ(from_f32(std::nextafter(tie_f32, 0.0f)), bits) << bits;
    ASSERT_EQ(from_f32(std::nextafter(tie_f32, std::numeric_limits<float>::infinity())), next);
    ASSERT_EQ(from_f32(-tie_f32), even | 0x8000) << bits;
    ASSERT_EQ(convert(tie, type), to_f32(even)) << bits;
    ASSERT_EQ(convert(std::nextafter(tie, 0.0), type), to_f32(bits)) << bits;
    ASSERT_EQ(convert(std::nextafter(tie, kInf), type), to_f32(next)) << bits;
    ASSERT_EQ(convert(-tie, type), -to_f32(even)) << bits;
  }
}

TEST(TypeTest, F16TiesGoToEven) {
  check_ties(
      0x7c00, Scalar::F16, [](int b) { return f32_from_f16(static_cast<uint16_t>(b)); },
      f16_from_f32);
}
TEST(TypeTest, Bf16TiesGoToEven) {
  check_ties(
      0x7f80, Scalar::BF16, [](int b) { return f32_from_bf16(static_cast<uint16_t>(b)); },
      bf16_from_f32);
}

TEST(TypeTest, BitsAndConvertAgreeOnRandomFloats) {
  Rng rng(1);
  for (int k = 0; k < 200000; ++k) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(rng.next()));
    if (std::isnan(value)) continue;
    ASSERT_EQ(convert(value, Scalar::F16), f32_from_f16(f16_from_f32(value))) << value;
    ASSERT_EQ(convert(value, Scalar::BF16), f32_from_bf16(bf16_from_f32(value))) << value;
  }
}

TEST(TypeTest, F16Values) {
  EXPECT_EQ(f16_from_f32(1.0f), 0x3c00);
  EXPECT_EQ(f16_from_f32(-2.0f), 0xc000);
  EXPECT_EQ(f16_from_f32(65504.0f), 0x7bff);
  EXPECT_EQ(f16_from_f32(65519.0f), 0x7bff);
  EXPECT_EQ(f16_from_f32(65520.0f), 0x7c00);
  EXPECT_EQ(f16_from_f32(0x1p-24f), 0x0001);
  EXPECT_EQ(f16_from_f32(0x1p-25f), 0x0000);
  EXPECT_EQ(f16_from_f32(-0.0f), 0x8000);
  EXPECT_EQ(bf16_from_f32(1.0f), 0x3f80);
  EXPECT_EQ(bf16_from_f32(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(TypeTest, SpecialValuesSurvive) {
  for (Scalar s : {Scalar::F16, Scalar::BF16, Scalar::F32, Scalar::F64}) {
    EXPECT_TRUE(std::isnan(convert(kNan, s)));
    EXPECT_EQ(convert(kInf, s), kInf);
    EXPECT_EQ(convert(-kInf, s), -kInf);
    EXPECT_TRUE(std::signbit(convert(-0.0, s)));
  }
  EXPECT_EQ(convert(1e300, Scalar::F32), kInf);
  EXPECT_EQ(convert(1e-40, Scalar::F32), static_cast<double>(1e-40f));
  // A double just above a tie of F16 is rounded once: through F32 it would become the tie.
  EXPECT_EQ(convert(1 + 0x1p-11 + 0x1p-40, Scalar::F16), 1 + 0x1p-10);
}

TEST(TypeTest, FloatToInteger) {
  struct Case {
    double value;
    Scalar to;
    int64_t expected;
  };
  const Case cases[] = {
      {2.9, Scalar::I32, 2},
      {-2.9, Scalar::I32, -2},
      {kNan, Scalar::I32, 0},
      {127.9, Scalar::I8, 127},
      {128, Scalar::I8, 127},
      {-128.9, Scalar::I8, -128},
      {-1000, Scalar::I8, -128},
      {255.5, Scalar::U8, 255},
      {256, Scalar::U8, 255},
      {-0.9, Scalar::U8, 0},
      {-5, Scalar::U8, 0},
      {65536, Scalar::U16, 65535},
      {0x1p40, Scalar::U32, UINT32_MAX},
      {-1, Scalar::U32, 0},
      {kInf, Scalar::I16, 32767},
      {-kInf, Scalar::I16, -32768},
      {1e300, Scalar::I64, INT64_MAX},
      {-1e300, Scalar::I64, INT64_MIN},
      {0x1p62, Scalar::I64, int64_t{1} << 62},
      {0.1, Scalar::Bool, 1},
      {0.0, Scalar::Bool, 0},
      {-0.0, Scalar::Bool, 0},
      {kNan, Scalar::Bool, 1},
      {0x1p31, Scalar::I32, INT32_MAX},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(convert_to_integer(c.value, c.to), c.expected) << c.value << name_of(c.to);
  }
  EXPECT_THROW(convert_to_integer(1.0, Scalar::F32), InternalError);
}

TEST(TypeTest, IntegersWrap) {
  for (int value = -100000; value <= 100000; ++value) {
    ASSERT_EQ(wrap_integer(value, Scalar::I8), ((value + 128) & 255) - 128);
    ASSERT_EQ(wrap_integer(value, Scalar::U8), value & 255);
    ASSERT_EQ(wrap_integer(value, Scalar::U16), value & 65535);
    ASSERT_EQ(wrap_integer(value, Scalar::U32), value & 0xffffffffLL);
    ASSERT_EQ(wrap_integer(value, Scalar::I16), ((value + 32768) & 65535) - 32768);
    ASSERT_EQ(wrap_integer(value, Scalar::Bool), value != 0);
    ASSERT_EQ(wrap_integer(value, Scalar::I64), value);
  }
  EXPECT_EQ(wrap_integer(int64_t{1} << 31, Scalar::I32), INT32_MIN);
  EXPECT_THROW(wrap_integer(1, Scalar::F32), InternalError);
}

}  // namespace
}  // namespace tilewright::ir
