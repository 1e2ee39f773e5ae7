#include "codegen/workspace.h"

#include <gtest/gtest.h>

namespace tilewright::codegen {
namespace {

using namespace ir;  // NOLINT(google-build-using-namespace)

Function with(std::vector<Buffer> buffers, Stmt body) {
  return {.name = "f",
          .buffers = std::move(buffers),
          .arguments = {},
          .argument_written = {},
          .body = std::move(body)};
}
Buffer of(int64_t floats, Scope scope) {
  return {.name = "b", .element = kF32, .shape = {floats}, .scope = scope};
}
Stmt touch(BufferId id) { return make_store(id, {int_imm(0)}, float_imm(0, kF32)); }

// for i < n: to[i] = from[i]
Stmt copy(BufferId from, BufferId to, int64_t n, ForKind kind = ForKind::Serial) {
  const Expr i = var("i");
  return make_for(i, int_imm(n), kind, make_store(to, {i}, load(Scalar::F32, from, {i})));
}

TEST(Workspace, NoBuffersNoBytes) {
  const WorkspacePlan plan =
      plan_workspace(with({of(4, Scope::Stack)}, make_allocate(0, touch(0))));
  EXPECT_EQ(plan.shared, 0);
  EXPECT_EQ(plan.per_thread, 0);
  EXPECT_EQ(plan.offset[0], -1);
}

TEST(Workspace, LiveBuffersAreDisjointAndSiblingsShare) {
  const auto w = Scope::Workspace;
  const Stmt body = make_allocate(
      0, make_block({touch(0), make_allocate(1, touch(1)), make_allocate(2, copy(0, 2, 5))}));
  const WorkspacePlan plan = plan_workspace(with({of(10, w), of(5, w), of(100, w)}, body));
  EXPECT_EQ(plan.offset[2], 0);  // the largest
  EXPECT_EQ(plan.offset[0], 448);
  EXPECT_EQ(plan.offset[1], 0);
  EXPECT_EQ(plan.shared, 448 + 64);
}

TEST(Workspace, BuffersStartAtDifferentPageOffsets) {
  const auto t = Scope::Thread;
  const Stmt body = make_allocate(
      0, make_allocate(
             1, make_allocate(2, make_block({copy(0, 1, 4), copy(1, 2, 4), copy(2, 0, 4)}))));
  const WorkspacePlan plan = plan_workspace(with({of(1024, t), of(1024, t), of(1024, t)}, body));
  for (size_t a = 0; a < 3; ++a) {
    EXPECT_EQ(plan.offset[a] % 64, 0);
    for (size_t b = 0; b < a; ++b) {
      EXPECT_NE(plan.offset[a] % 4096, plan.offset[b] % 4096);
      EXPECT_GE(std::abs(plan.offset[a] - plan.offset[b]), 4096);
    }
  }
  EXPECT_EQ(plan.shared, 0);
  EXPECT_GE(plan.per_thread, 3 * 4096);
  EXPECT_EQ(plan.per_thread % 64, 0);
  EXPECT_NE(plan.per_thread % 4096, 0);
}

// Stage k + 1 reads stage k; all Allocates enclose the whole body.
TEST(Workspace, AChainOfStagesNeedsTwoBuffers) {
  constexpr BufferId kStages = 10;
  constexpr int64_t kFloats = 1000;
  for (Scope scope : {Scope::Workspace, Scope::Thread}) {
    std::vector<Stmt> stages = {touch(0)};
    for (BufferId k = 1; k < kStages; ++k) stages.push_back(copy(k - 1, k, kFloats));
    Stmt body = make_block(stages);
    for (BufferId k = 0; k < kStages; ++k) body = make_allocate(k, body);
    const WorkspacePlan plan =
        plan_workspace(with(std::vector<Buffer>(kStages, of(kFloats, scope)), body));
    const int64_t bytes = scope == Scope::Workspace ? plan.shared : plan.per_thread;
    EXPECT_LT(bytes, int64_t{kStages} * kFloats * 4 / 2);
    for (size_t k = 1; k < kStages; ++k) {
      EXPECT_GE(std::abs(plan.offset[k] - plan.offset[k - 1]), kFloats * 4) << k;
    }
  }
}

TEST(Workspace, SmallerBuffersFillTheGapsOfLargerOnes) {
  const auto w = Scope::Workspace;
  // 0 and 1 together, then 1 and 2; 2 is small and takes the place of 0.
  Stmt body = make_block({touch(0), copy(0, 1, 8), copy(1, 2, 8), touch(2)});
  for (BufferId k = 0; k < 3; ++k) body = make_allocate(k, body);
  const WorkspacePlan plan = plan_workspace(with({of(64, w), of(64, w), of(16, w)}, body));
  EXPECT_EQ(plan.offset[2], plan.offset[0]);
  EXPECT_EQ(plan.shared, 512);
}

// In a loop around both accesses a later iteration reads what an earlier one wrote.
TEST(Workspace, ALoopInsideOfTheAllocateKeepsABufferAlive) {
  const auto w = Scope::Workspace;
  const Expr i = var("i");
  const Stmt loop = make_for(i, int_imm(3), ForKind::Serial,
                             make_block({touch(1), copy(1, 2, 4), copy(2, 0, 4)}));
  // Outside of the loop the contents of 1 would have to survive an iteration, inside they do not.
  const Stmt outside = make_allocate(0, make_allocate(1, make_allocate(2, loop)));
  const WorkspacePlan kept = plan_workspace(with({of(16, w), of(16, w), of(16, w)}, outside));
  EXPECT_EQ(kept.shared, 3 * 64);
  const Stmt inside = make_for(
      i, int_imm(3), ForKind::Serial,
      make_allocate(0, make_allocate(1, make_allocate(2, make_block({touch(1), copy(1, 2, 4),
                                                                     copy(2, 0, 4)})))));
  EXPECT_EQ(plan_workspace(with({of(16, w), of(16, w), of(16, w)}, inside)).shared, 2 * 64);
}

// Threads are at different statements of a Parallel loop at the same time.
TEST(Workspace, SharedBuffersOfAParallelLoopAreDisjoint) {
  const Expr i = var("i");
  const auto parallel = [&](Scope scope) {
    return plan_workspace(
        with({of(16, scope), of(16, scope)},
             make_for(i, int_imm(3), ForKind::Parallel,
                      make_block({make_allocate(0, touch(0)), make_allocate(1, touch(1))}))));
  };
  const WorkspacePlan shared = parallel(Scope::Workspace);
  EXPECT_NE(shared.offset[0], shared.offset[1]);
  const WorkspacePlan own = parallel(Scope::Thread);
  EXPECT_EQ(own.offset[0], own.offset[1]);
}

TEST(Workspace, CopiesOfAnAllocateAreDisjoint) {
  const auto w = Scope::Workspace;
  const Stmt body = make_block({make_allocate(0, touch(0)), make_allocate(1, touch(1)),
                                make_allocate(0, touch(0)), make_allocate(1, touch(1))});
  const WorkspacePlan plan = plan_workspace(with({of(16, w), of(16, w)}, body));
  EXPECT_EQ(plan.offset[0], plan.offset[1]);
  EXPECT_EQ(plan.shared, 64);
}

}  // namespace
}  // namespace tilewright::codegen
