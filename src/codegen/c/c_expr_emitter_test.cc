// CExprEmitter alone: one expression in, its C text out.
#include "codegen/c/c_expr_emitter.h"

#include "codegen/c/emission_testing.h"

namespace tilewright::codegen {
namespace {

using ir::Expr;
using ::testing::HasSubstr;

class CExprEmitterTest : public CEmissionTest {
 protected:
  CValue emit(const Expr& expr) {
    exprs_.begin_statement();
    exprs_.count_uses(expr);
    return exprs_.emit(expr);
  }
  std::string emitted(const Expr& expr) { return emit(expr).pieces[0].text; }

  CExprEmitter exprs_{emission_, frame_};
};

TEST_F(CExprEmitterTest, OperatorsMapToC) {
  EXPECT_EQ(emitted(i_ * 4 + 3), "i * 4 + 3");
  EXPECT_EQ(emitted(load_a(i_ + 1)), "A[i + 1]");
  EXPECT_EQ(emitted(load_a(i_) * ir::float_imm(2, ir::kF32)), "A[i] * 2.0f");
}

TEST_F(CExprEmitterTest, RangesFollowIndices) {
  EXPECT_EQ(emit(i_ * 4 + 3).range, (arith::Interval{3, 399}));
}

TEST_F(CExprEmitterTest, ASharedNodeIsBoundOnce) {
  const Expr element = load_a(i_);
  EXPECT_EQ(emitted(element * element), "t0 * t0");
  EXPECT_EQ(frame_.text.text(), "  const float t0 = A[i];\n");
}

TEST_F(CExprEmitterTest, FaultingScalarArmIsInABranch) {
  const Expr element = load_a(i_), zero = ir::float_imm(0, ir::kF32);
  EXPECT_THAT(emitted(ir::select(i_ < 8, element, zero)), HasSubstr("(i < 8) ? A[i] : 0.0f"));
  EXPECT_EQ(frame_.text.text(), "");
  emitted(ir::select(i_ < 8, element * element, zero));  // the arm needs a name
  EXPECT_THAT(frame_.text.text(), HasSubstr("if (i < 8) {"));
}

TEST_F(CExprEmitterTest, VectorArmIsMasked) {
  const Expr lanes = ir::ramp(i_, 1, 8);
  const Expr limit = ir::broadcast(ir::int_imm(100), 8);
  const CValue value =
      emit(ir::select(lanes < limit, load_a(lanes), ir::broadcast(ir::float_imm(0, ir::kF32), 8)));
  EXPECT_THAT(frame_.text.text() + value.pieces[0].text, HasSubstr("tw_load_masked_f32x8(A + i, "));
}

TEST_F(CExprEmitterTest, LongVectorsAreSplit) {
  EXPECT_EQ(emit(load_a(ir::ramp(i_, 1, 20))).pieces.size(), 3U);  // 8, 8, 4
}

TEST_F(CExprEmitterTest, FirstErrorIsKept) {
  emit(ir::var("k"));
  EXPECT_EQ(emission_.error, "variable `k` is not bound");
  emit(ir::call(ir::Intrinsic::Exp, {load_a(i_)}));
  EXPECT_EQ(emission_.error, "variable `k` is not bound");
}

}  // namespace
}  // namespace tilewright::codegen
