#include "codegen/llvm/types.h"

#include <gtest/gtest.h>
#include <llvm/Support/raw_ostream.h>

#include <string>

namespace tilewright::codegen {
namespace {

using ir::Scalar;

std::string text_of(const llvm::Type* type) {
  std::string text;
  llvm::raw_string_ostream(text) << *type;
  return text;
}

TEST(Types, ScalarsAndVectors) {
  llvm::LLVMContext context;
  const Types types(context);
  EXPECT_EQ(text_of(types.value_type(ir::kIndex)), "i64");
  EXPECT_EQ(text_of(types.value_type({Scalar::U8, 16})), "<16 x i8>");
  EXPECT_EQ(text_of(types.value_type({Scalar::F32, 8})), "<8 x float>");
  EXPECT_EQ(text_of(types.value_type({Scalar::F64, 1})), "double");
}

TEST(Types, NarrowFloatsAreBits) {
  llvm::LLVMContext context;
  const Types types(context);
  EXPECT_EQ(text_of(types.value_type({Scalar::F16, 8})), "<8 x i16>");
  EXPECT_EQ(text_of(types.memory_type({Scalar::BF16, 1})), "i16");
}

TEST(Types, ABoolIsAByteInMemory) {
  llvm::LLVMContext context;
  const Types types(context);
  EXPECT_EQ(text_of(types.value_type({Scalar::Bool, 8})), "<8 x i1>");
  EXPECT_EQ(text_of(types.memory_type({Scalar::Bool, 8})), "<8 x i8>");
  EXPECT_EQ(types.memory_type(ir::kF32), types.value_type(ir::kF32));
}

TEST(Types, LanesOfAnotherValue) {
  llvm::LLVMContext context;
  const Types types(context);
  llvm::Type* const i32 = types.scalar_type(Scalar::I32);
  Value vector = llvm::PoisonValue::get(types.value_type({Scalar::F64, 4}));
  EXPECT_EQ(text_of(types.same_lanes(i32, vector)), "<4 x i32>");
  EXPECT_EQ(types.same_lanes(i32, integer(i32, -1)), i32);
}

TEST(Types, Constants) {
  llvm::LLVMContext context;
  const Types types(context);
  const auto* minus = llvm::cast<llvm::ConstantInt>(integer(types.scalar_type(Scalar::I8), -1));
  EXPECT_EQ(minus->getSExtValue(), -1);
  const auto* half = llvm::cast<llvm::ConstantFP>(number(types.scalar_type(Scalar::F32), 0.5));
  EXPECT_EQ(half->getValueAPF().convertToFloat(), 0.5F);
}

}  // namespace
}  // namespace tilewright::codegen
