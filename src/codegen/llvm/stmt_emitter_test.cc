// StmtEmitter alone: one statement in, its control flow out.
#include "codegen/llvm/stmt_emitter.h"

#include "codegen/llvm/emission_testing.h"

namespace tilewright::codegen {
namespace {

using ir::Expr;
using ir::ForKind;
using ir::Stmt;
using ::testing::HasSubstr;
using ::testing::Not;

class StmtEmitterTest : public EmissionTest {
 protected:
  std::string emitted(const Stmt& stmt) {
    stmts_.emit(stmt);
    return text();
  }
  Stmt store(const Expr& index) const { return ir::make_store(kB, {index}, load_a(index)); }

  StmtEmitter stmts_{emission_, frame_};
  const Expr k_ = ir::var("k");
};

TEST_F(StmtEmitterTest, LoopsBecomeBlocks) {
  EXPECT_THAT(emitted(ir::make_for(k_, ir::int_imm(8), ForKind::Serial, store(k_))),
              HasSubstr("loop:"));
}

TEST_F(StmtEmitterTest, SingleIterationHasNoLoop) {
  const std::string text = emitted(ir::make_for(k_, ir::int_imm(1), ForKind::Serial, store(k_)));
  EXPECT_THAT(text, Not(HasSubstr("loop:")));
  EXPECT_THAT(text, HasSubstr("getelementptr float, ptr %0, i64 0"));  // k is 0
  EXPECT_EQ(emitted(ir::make_for(k_, ir::int_imm(0), ForKind::Serial, store(k_))), text);
}

TEST_F(StmtEmitterTest, BranchesMayHaveAnElse) {
  EXPECT_THAT(emitted(ir::make_if(i_ < 8, store(i_))), Not(HasSubstr("else:")));
  EXPECT_THAT(emitted(ir::make_if(i_ < 8, store(i_), store(i_ + 1))), HasSubstr("else:"));
}

TEST_F(StmtEmitterTest, ALetIsBoundInItsBody) {
  const Expr x = ir::var("x", ir::kF32);
  emitted(ir::make_let(x, load_a(i_), ir::make_store(kB, {i_}, x * x)));
  EXPECT_TRUE(emission_.error.empty());
  emitted(ir::make_store(kB, {i_}, x));
  EXPECT_EQ(emission_.error, "variable `x` is not bound");
}

TEST_F(StmtEmitterTest, BuffersFollowTheirScope) {
  const Stmt fill = ir::make_store(kRegister, {ir::int_imm(0)}, ir::float_imm(1, ir::kF32));
  EXPECT_THAT(emitted(ir::make_allocate(kRegister, fill)), HasSubstr("alloca float"));
  const Stmt keep = ir::make_store(kWorkspace, {ir::int_imm(0)}, ir::float_imm(1, ir::kF32));
  EXPECT_THAT(emitted(ir::make_allocate(kWorkspace, keep)),
              HasSubstr("getelementptr i8, ptr %0, i64 128"));
  emitted(keep);
  EXPECT_EQ(emission_.error, "`w` is accessed outside of its Allocate");
}

TEST_F(StmtEmitterTest, AParallelLoopIsAFunction) {
  frame_.pool = made_->getArg(0);
  frame_.threads = emission_.builder.getInt32(2);
  const std::string text =
      emitted(ir::make_for(k_, ir::int_imm(8), ForKind::Parallel, store(i_ + k_)));
  EXPECT_THAT(text, HasSubstr("define internal void @f.task0(ptr %0, i64 %1, i32 %2)"));
  EXPECT_THAT(text, HasSubstr("call i32 @tilewright_parallel_for(ptr %0, i32 2, i64 8, "));
}

TEST_F(StmtEmitterTest, ParallelLoopsDoNotNest) {
  emitted(ir::make_for(k_, ir::int_imm(8), ForKind::Parallel, store(k_)));  // no pool: in a task
  EXPECT_EQ(emission_.error, "a Parallel loop inside a Parallel loop");
}

TEST_F(StmtEmitterTest, GpuLoopsAreErrors) {
  emitted(ir::make_bound_for(k_, ir::int_imm(1), ThreadAxis::ThreadX, store(k_)));
  EXPECT_EQ(emission_.error, "a loop is bound to thread_x, which only a GPU has");
}

TEST_F(StmtEmitterTest, DeviceBuffersAreErrors) {
  emitted(ir::make_allocate(kDevice, store(k_)));
  EXPECT_EQ(emission_.error, "`d` is in device memory, which a CPU does not have");
}

}  // namespace
}  // namespace tilewright::codegen
