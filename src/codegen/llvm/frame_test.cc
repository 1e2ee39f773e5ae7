// Frame alone: control flow, levels, and facts about variables.
#include "codegen/llvm/frame.h"

#include "codegen/llvm/emission_testing.h"

namespace tilewright::codegen {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

using FrameTest = EmissionTest;

TEST_F(FrameTest, ALoopTestsAtItsEnd) {
  frame_.counted_loop(emission_.index(8), false, [](Value) {});
  EXPECT_THAT(text(), HasSubstr("phi i64 [ 0, %start ]"));
  EXPECT_THAT(text(), HasSubstr("icmp ult i64"));
  EXPECT_THAT(text(), Not(HasSubstr("icmp sgt")));
}

TEST_F(FrameTest, ALoopThatMayBeEmptyIsGuarded) {
  frame_.counted_loop(made_->getArg(2), true, [](Value) {});
  EXPECT_THAT(text(), HasSubstr("icmp sgt i64 %2, 0"));
}

TEST_F(FrameTest, InvariantsAreEmittedBeforeTheLoop) {
  llvm::BasicBlock* const start = emission_.builder.GetInsertBlock();
  frame_.counted_loop(emission_.index(8), false, [&](Value k) {
    EXPECT_EQ(frame_.levels.size(), 2U);
    const auto twice = [&] { return emission_.builder.CreateAdd(made_->getArg(2), k); };
    Value inside = frame_.at_level(1, twice);
    EXPECT_EQ(llvm::cast<llvm::Instruction>(inside)->getParent(),
              emission_.builder.GetInsertBlock());
    Value outside = frame_.at_level(
        0, [&] { return emission_.builder.CreateAdd(made_->getArg(2), made_->getArg(2)); });
    EXPECT_EQ(llvm::cast<llvm::Instruction>(outside)->getParent(), start);
  });
  EXPECT_EQ(frame_.levels.size(), 1U);
}

TEST_F(FrameTest, APointerMovesWithItsLoop) {
  frame_.counted_loop(emission_.index(8), false,
                      [&](Value) { frame_.moving_pointer(1, made_->getArg(0), 64); });
  EXPECT_THAT(text(), HasSubstr("phi ptr [ %0, %start ]"));
  EXPECT_THAT(text(), ContainsRegex("getelementptr i8, ptr %[0-9]+, i64 64"));
}

TEST_F(FrameTest, BranchesJoin) {
  Value condition = emission_.builder.CreateIsNull(made_->getArg(2));
  Value chosen = frame_.choose(
      condition, emission_.builder.getInt64Ty(), [&]() -> Value { return emission_.index(1); },
      [&]() -> Value { return made_->getArg(2); });
  EXPECT_TRUE(llvm::isa<llvm::PHINode>(chosen));
  EXPECT_THAT(text(), HasSubstr("phi i64 [ 1, %true ], [ %2, %false ]"));
  frame_.branch(condition, [] {}, nullptr);
  EXPECT_THAT(text(), Not(HasSubstr("else:")));
}

TEST_F(FrameTest, TracksLevelsAndMultiplesOfIndices) {
  const ir::Expr k = ir::var("k");
  frame_.counted_loop(emission_.index(8), false, [&](Value value) {
    frame_.bind(k.as<ir::Var>()->id, value, 1, [&] {
      EXPECT_EQ(frame_.level_of(i_ * 2), 0U);
      EXPECT_EQ(frame_.level_of(i_ + k), 1U);
      EXPECT_EQ(frame_.multiple_of(i_ * 4 + 8), 8);  // i is a multiple of 4
      EXPECT_EQ(frame_.multiple_of(i_ + k), 1);
    });
  });
  EXPECT_EQ(frame_.level_of(k), 0U);  // no longer bound
}

TEST_F(FrameTest, RegistersBecomeValues) {
  llvm::AllocaInst* slot = frame_.entry_alloca(emission_.builder.getInt64Ty(), 1, 1);
  frame_.registers.push_back(slot);
  emission_.builder.CreateStore(made_->getArg(2), slot);
  emission_.builder.CreateStore(emission_.builder.CreateLoad(emission_.builder.getInt64Ty(), slot),
                                made_->getArg(0));
  emission_.builder.CreateRetVoid();
  frame_.finish();
  EXPECT_THAT(text(), HasSubstr("store i64 %2, ptr %0"));
  EXPECT_THAT(text(), Not(HasSubstr("alloca")));
}

}  // namespace
}  // namespace tilewright::codegen
