// Casts alone: a value in, the instructions of its conversion out.
#include "codegen/llvm/casts.h"

#include "codegen/llvm/emission_testing.h"

namespace tilewright::codegen {
namespace {

using ir::Scalar;
using ::testing::HasSubstr;
using ::testing::Not;

class CastsTest : public EmissionTest {
 protected:
  // The instructions that cast an undefined value.
  std::string cast(ir::Type from, Scalar to) {
    // A load, so that nothing is folded.
    Value value = emission_.builder.CreateLoad(emission_.types.value_type(from), made_->getArg(0));
    casts_.cast(value, from, to);
    return text();
  }

  Casts casts_{emission_.builder, emission_.types};
};

TEST_F(CastsTest, FloatsSaturate) {
  EXPECT_THAT(cast({Scalar::F32, 4}, Scalar::I8), HasSubstr("@llvm.fptosi.sat.v4i8.v4f32"));
  EXPECT_THAT(cast(ir::kF32, Scalar::U8), HasSubstr("@llvm.fptoui.sat.i8.f32"));
}

TEST_F(CastsTest, IntegersExtendByTheirSign) {
  EXPECT_THAT(cast({Scalar::I8, 1}, Scalar::I32), HasSubstr("sext i8"));
  EXPECT_THAT(cast({Scalar::U8, 1}, Scalar::I32), HasSubstr("zext i8"));
  EXPECT_THAT(cast(ir::kIndex, Scalar::I8), HasSubstr("trunc i64"));
}

TEST_F(CastsTest, Bf16IsTheUpperHalf) {
  const std::string text = cast({Scalar::BF16, 1}, Scalar::F32);
  EXPECT_THAT(text, HasSubstr("shl i32"));
  EXPECT_THAT(text, Not(HasSubstr("bfloat")));
}

TEST_F(CastsTest, NarrowFloatsAreRoundedOnce) {
  EXPECT_THAT(cast(ir::kF32, Scalar::F16), HasSubstr("fptrunc float"));
  EXPECT_THAT(text(), Not(HasSubstr("fcmp one")));
  EXPECT_THAT(cast({Scalar::F64, 1}, Scalar::F16), HasSubstr("fcmp one"));  // rounded to odd
}

TEST_F(CastsTest, BoolIsAByteInMemory) {
  const ir::Type type{Scalar::Bool, 8};
  Value lanes = llvm::PoisonValue::get(emission_.types.value_type(type));
  Value stored = casts_.to_memory(lanes, type);
  EXPECT_EQ(stored->getType(), emission_.types.memory_type(type));
  EXPECT_EQ(casts_.from_memory(stored, type)->getType(), lanes->getType());
  EXPECT_EQ(casts_.to_memory(made_->getArg(2), ir::kIndex), made_->getArg(2));
}

}  // namespace
}  // namespace tilewright::codegen
