// CStmtEmitter alone: one statement in, its C text out.
#include "codegen/c/c_stmt_emitter.h"

#include "codegen/c/emission_testing.h"

namespace tilewright::codegen {
namespace {

using ir::Expr;
using ir::ForKind;
using ir::Stmt;
using ::testing::HasSubstr;

class CStmtEmitterTest : public CEmissionTest {
 protected:
  const std::string& emitted(const Stmt& stmt) {
    CStmtEmitter(emission_, frame_).emit(stmt);
    return frame_.text.text();
  }
  Stmt store(const Expr& index) const { return ir::make_store(kB, {index}, load_a(index)); }

  const Expr k_ = ir::var("k");
};

TEST_F(CStmtEmitterTest, LoopsAreForStatements) {
  EXPECT_EQ(emitted(ir::make_for(k_, ir::int_imm(8), ForKind::Serial, store(k_))),
            "  for (int64_t k = 0; k < 8; ++k) {\n"
            "    B[k] = A[k];\n"
            "  }\n");
}

TEST_F(CStmtEmitterTest, SingleIterationHasNoLoop) {
  EXPECT_EQ(emitted(ir::make_for(k_, ir::int_imm(1), ForKind::Serial, store(k_))),
            "  B[0] = A[0];\n");
  EXPECT_EQ(emitted(ir::make_for(k_, ir::int_imm(0), ForKind::Serial, store(k_))),
            "  B[0] = A[0];\n");
}

TEST_F(CStmtEmitterTest, Branches) {
  EXPECT_EQ(emitted(ir::make_if(i_ < 8, store(i_), store(i_ + 1))),
            "  if (i < 8) {\n"
            "    B[i] = A[i];\n"
            "  } else {\n"
            "    const int64_t t0 = i + 1;\n"
            "    B[t0] = A[t0];\n"
            "  }\n");
}

TEST_F(CStmtEmitterTest, ALetIsAConstant) {
  const Expr x = ir::var("x", ir::kF32);
  EXPECT_EQ(emitted(ir::make_let(x, load_a(i_), ir::make_store(kB, {i_}, x))),
            "  const float x = A[i];\n"
            "  B[i] = x;\n");
}

TEST_F(CStmtEmitterTest, APredicateIsAnIf) {
  EXPECT_EQ(emitted(ir::make_store(kB, {i_}, ir::float_imm(1, ir::kF32), i_ < 8)),
            "  if (i < 8) {\n"
            "    B[i] = 1.0f;\n"
            "  }\n");
}

TEST_F(CStmtEmitterTest, ARegisterIsAVariable) {
  const Stmt fill = ir::make_store(kRegister, {ir::int_imm(0)}, load_a(i_));
  const Stmt use = ir::make_store(kB, {i_}, ir::load(ir::Scalar::F32, kRegister, {ir::int_imm(0)}));
  EXPECT_THAT(emitted(ir::make_allocate(kRegister, ir::make_block({fill, use}))),
              HasSubstr("r = A[i];\n"));
  EXPECT_FALSE(frame_.uses_workspace);
}

TEST_F(CStmtEmitterTest, WorkspaceBufferIsAtItsOffset) {
  const Stmt fill = ir::make_store(kWorkspace, {ir::int_imm(0)}, ir::float_imm(1, ir::kF32));
  EXPECT_THAT(emitted(ir::make_allocate(kWorkspace, fill)), HasSubstr("workspace + 128"));
  EXPECT_TRUE(frame_.uses_workspace);
}

TEST_F(CStmtEmitterTest, AParallelLoopIsAFunction) {
  const std::string& text =
      emitted(ir::make_for(k_, ir::int_imm(8), ForKind::Parallel, store(i_ + k_)));
  EXPECT_THAT(text, HasSubstr("tilewright_parallel_for(pool, threads, 8, f_task0, "));
  EXPECT_THAT(emission_.tasks_text, HasSubstr("static void f_task0("));
  EXPECT_EQ(emission_.tasks, 1);
}

TEST_F(CStmtEmitterTest, WrittenArgumentsAreNotConst) {
  EXPECT_EQ(parameter_of(emission_, kA, "A", true), "const float* restrict A");
  EXPECT_EQ(parameter_of(emission_, kB, "B", true), "float* restrict B");
}

}  // namespace
}  // namespace tilewright::codegen
