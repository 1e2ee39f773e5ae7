// ExprEmitter alone: one expression in, its instructions out.
#include "codegen/llvm/expr_emitter.h"

#include "codegen/llvm/emission_testing.h"

namespace tilewright::codegen {
namespace {

using ir::Expr;
using ir::Scalar;
using ::testing::HasSubstr;
using ::testing::Not;

class ExprEmitterTest : public EmissionTest {
 protected:
  std::string emitted(const Expr& expr) {
    exprs_.begin_statement();
    exprs_.emit(expr);
    return text();
  }

  ExprEmitter exprs_{emission_, frame_};
};

TEST_F(ExprEmitterTest, OperatorsMapToInstructions) {
  const std::string text =
      emitted(ir::fma(load_a(i_), ir::float_imm(2, ir::kF32), load_a(i_ + 1)) - load_a(i_ + 2));
  EXPECT_THAT(text, HasSubstr("call float @llvm.fma.f32(float"));
  EXPECT_THAT(text, HasSubstr("fsub float"));
}

TEST_F(ExprEmitterTest, ASharedNodeIsEmittedOnceForAStatement) {
  const Expr element = load_a(i_);
  const Expr square = element * element;
  exprs_.begin_statement();
  Value first = exprs_.emit(element);
  EXPECT_EQ(exprs_.emit(element), first);
  exprs_.begin_statement();
  EXPECT_NE(exprs_.emit(element), first);
}

TEST_F(ExprEmitterTest, FaultingScalarArmIsInABranch) {
  EXPECT_THAT(emitted(ir::select(i_ < 8, load_a(i_), ir::float_imm(0, ir::kF32))),
              HasSubstr("br i1 %3, label %true, label %false"));
}

TEST_F(ExprEmitterTest, SafeArmIsSpeculated) {
  const std::string text = emitted(ir::select(i_ < 8, i_, ir::int_imm(0)));
  EXPECT_THAT(text, HasSubstr("select i1"));
  EXPECT_THAT(text, Not(HasSubstr("br i1")));
}

TEST_F(ExprEmitterTest, VectorArmIsMasked) {
  const Expr lanes = ir::ramp(i_, 1, 8);
  const Expr zeros = ir::broadcast(ir::float_imm(0, ir::kF32), 8);
  EXPECT_THAT(emitted(ir::select(lanes < ir::broadcast(ir::int_imm(100), 8), load_a(lanes), zeros)),
              HasSubstr("@llvm.masked.load.v8f32"));
}

TEST_F(ExprEmitterTest, VectorLoadsFollowTheStride) {
  EXPECT_THAT(emitted(load_a(ir::ramp(i_, 1, 8))), HasSubstr("load <8 x float>"));
  EXPECT_THAT(emitted(load_a(ir::ramp(i_, 3, 4))), HasSubstr("insertelement <4 x float>"));
  const Expr lanes = ir::ramp(i_, 1, 4);
  EXPECT_THAT(emitted(load_a(lanes * lanes)), HasSubstr("@llvm.masked.gather.v4f32"));
}

TEST_F(ExprEmitterTest, FirstErrorIsKept) {
  exprs_.emit(ir::var("k"));
  EXPECT_EQ(emission_.error, "variable `k` is not bound");
  exprs_.emit(ir::call(ir::Intrinsic::Exp, {load_a(i_)}));
  EXPECT_EQ(emission_.error, "variable `k` is not bound");
}

TEST_F(ExprEmitterTest, UnexpandedFunctionsAreErrors) {
  exprs_.emit(ir::call(ir::Intrinsic::Exp, {load_a(i_)}));
  EXPECT_THAT(emission_.error, HasSubstr("`exp` of f32 was not expanded"));
}

}  // namespace
}  // namespace tilewright::codegen
