// Arithmetic alone: values in, instructions out, without a kernel around it.
#include "codegen/llvm/arithmetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

namespace tilewright::codegen {
namespace {

using ir::BinaryOp;
using ir::Scalar;
using ::testing::HasSubstr;
using ::testing::Not;

// A function of two parameters of one type, into which the instructions go.
class ArithmeticTest : public ::testing::Test {
 protected:
  void begin(ir::Type type) {
    llvm::Type* parameter = types_.value_type(type);
    auto* signature =
        llvm::FunctionType::get(llvm::Type::getVoidTy(context_), {parameter, parameter}, false);
    function_ = llvm::Function::Create(signature, llvm::Function::ExternalLinkage, "f", module_);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "", function_));
  }
  Value a() const { return function_->getArg(0); }
  Value b() const { return function_->getArg(1); }
  std::string text() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    function_->print(stream);
    return text;
  }

  llvm::LLVMContext context_;
  llvm::Module module_{"test", context_};
  llvm::IRBuilder<> builder_{context_};
  Types types_{context_};
  Target target_ = *parse_target("x86-64-v3");
  Arithmetic arithmetic_{builder_, types_, target_};
  llvm::Function* function_ = nullptr;
};

TEST_F(ArithmeticTest, MaxWithAConstantIsOneComparison) {
  begin({Scalar::F32, 8});
  arithmetic_.combine(BinaryOp::Max, Scalar::F32, a(), b(), true);
  EXPECT_THAT(text(), HasSubstr("fcmp ogt <8 x float> %1, %0"));
  EXPECT_THAT(text(), Not(HasSubstr("fcmp uno")));
  arithmetic_.combine(BinaryOp::Max, Scalar::F32, a(), b(), false);
  EXPECT_THAT(text(), HasSubstr("fcmp uno"));
}

TEST_F(ArithmeticTest, DivisionByAPowerOfTwoIsAShift) {
  begin({Scalar::I64, 1});
  const int64_t eight = 8, seven = 7, minus = -8;
  EXPECT_NE(arithmetic_.divide_by_power(BinaryOp::Div, Scalar::I64, a(), &eight), nullptr);
  EXPECT_NE(arithmetic_.divide_by_power(BinaryOp::Mod, Scalar::I64, a(), &eight), nullptr);
  EXPECT_THAT(text(), HasSubstr("ashr i64 %0, 3"));
  EXPECT_THAT(text(), HasSubstr("and i64 %0, 7"));
  for (const int64_t* other : {&seven, &minus, static_cast<const int64_t*>(nullptr)}) {
    EXPECT_EQ(arithmetic_.divide_by_power(BinaryOp::Div, Scalar::I64, a(), other), nullptr);
  }
}

TEST_F(ArithmeticTest, MaskedLanesDivideByOne) {
  begin({Scalar::I32, 4});
  Value mask = llvm::ConstantInt::getTrue(types_.value_type({Scalar::Bool, 4}));
  arithmetic_.divide(BinaryOp::Div, Scalar::U8, a(), b(), nullptr, mask);
  EXPECT_THAT(text(), HasSubstr("udiv"));
  EXPECT_EQ(arithmetic_.combine(BinaryOp::Mod, Scalar::F32, a(), b()), nullptr);
}

TEST_F(ArithmeticTest, LanesAreFoldedByHalves) {
  begin({Scalar::F32, 6});
  Value folded = arithmetic_.fold_lanes(BinaryOp::Max, Scalar::F32, a(), 6);
  EXPECT_EQ(folded->getType(), types_.value_type({Scalar::F32, 1}));
}

TEST_F(ArithmeticTest, LanesAreTestedForNanOnce) {
  begin({Scalar::F32, 16});
  arithmetic_.fold_lanes(BinaryOp::Max, Scalar::F32, a(), 16);
  const std::string code = text();
  const size_t test = code.find("fcmp uno");
  EXPECT_NE(test, std::string::npos);
  EXPECT_EQ(code.find("fcmp uno", test + 1), std::string::npos) << code;
}

}  // namespace
}  // namespace tilewright::codegen
