// CCasts alone: a value in, the text of its conversion out.
#include "codegen/c/c_casts.h"

#include <gtest/gtest.h>

namespace tilewright::codegen {
namespace {

using ir::Scalar;

class CCastsTest : public ::testing::Test {
 protected:
  // The text of `x` as another type; a vector has one piece.
  std::string cast(ir::Type from, Scalar to) {
    CValue value{.type = from, .pieces = {{"x"}}};
    if (from.is_vector() && ir::is_bool(from)) value.mask_bytes = 4;
    return casts_.cast(value, to).pieces[0].text;
  }

  CText text_;
  Helpers helpers_;
  CValues values_{text_, helpers_, 8};
  CArithmetic arithmetic_{values_};
  CCasts casts_{values_, arithmetic_};
};

TEST_F(CCastsTest, ConversionsFollowC) {
  EXPECT_EQ(cast({Scalar::I32, 1}, Scalar::F32), "(float)x");
  EXPECT_EQ(cast({Scalar::I32, 8}, Scalar::F32), "__builtin_convertvector(x, tw_f32x8)");
  EXPECT_EQ(cast({Scalar::F32, 1}, Scalar::F32), "x");
}

TEST_F(CCastsTest, FloatsSaturate) {
  EXPECT_EQ(cast({Scalar::F32, 1}, Scalar::I8), "tw_saturate_i8_f32(x)");
  EXPECT_EQ(cast({Scalar::BF16, 1}, Scalar::U8), "tw_saturate_u8_f32(tw_from_bf16_f32_u16(x))");
}

TEST_F(CCastsTest, NarrowFloatsAreRoundedOnce) {
  EXPECT_EQ(cast({Scalar::F32, 1}, Scalar::F16), "tw_to_f16_u16_f32(x)");
  EXPECT_EQ(cast({Scalar::F64, 1}, Scalar::F16), "tw_to_f16_u16_f32(tw_to_odd_f32_f64(x))");
  EXPECT_EQ(cast({Scalar::I8, 1}, Scalar::F16), "tw_to_f16_u16_f32((float)x)");
}

TEST_F(CCastsTest, TrueLanesOfMasksAreMinusOne) {
  EXPECT_EQ(cast({Scalar::Bool, 8}, Scalar::F32), "__builtin_convertvector(-x, tw_f32x8)");
  EXPECT_EQ(cast({Scalar::Bool, 1}, Scalar::I32), "(int32_t)x");
}

TEST_F(CCastsTest, IndicesHaveTheRangeOfTheirType) {
  const CValue byte{.type = {Scalar::U8, 1}, .pieces = {{"x"}}};
  EXPECT_EQ(casts_.cast(byte, Scalar::I64).range, (arith::Interval{0, 255}));
}

}  // namespace
}  // namespace tilewright::codegen
