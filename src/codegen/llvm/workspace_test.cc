#include "codegen/llvm/workspace.h"

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

TEST(Workspace, NothingNeedsNothing) {
  const WorkspacePlan plan =
      plan_workspace(with({of(4, Scope::Stack)}, make_allocate(0, touch(0))));
  EXPECT_EQ(plan.shared, 0);
  EXPECT_EQ(plan.per_thread, 0);
  EXPECT_EQ(plan.offset[0], -1);
}

TEST(Workspace, NestedBuffersAreApartAndSiblingsShare) {
  const auto w = Scope::Workspace;
  const Stmt body =
      make_allocate(0, make_block({make_allocate(1, touch(1)), make_allocate(2, touch(2))}));
  const WorkspacePlan plan = plan_workspace(with({of(10, w), of(5, w), of(100, w)}, body));
  EXPECT_EQ(plan.offset[0], 0);
  EXPECT_EQ(plan.offset[1], 64);
  EXPECT_EQ(plan.offset[2], 64);
  EXPECT_EQ(plan.shared, 64 + 448);
}

TEST(Workspace, PartsDoNotStartAtTheSamePlaceOfAPage) {
  const auto t = Scope::Thread;
  const Stmt body = make_allocate(0, make_allocate(1, touch(1)));
  const WorkspacePlan plan = plan_workspace(with({of(1024, t), of(1024, t)}, body));
  EXPECT_EQ(plan.offset[1] % 64, 0);
  EXPECT_NE(plan.offset[1] % 4096, plan.offset[0] % 4096);
  EXPECT_EQ(plan.shared, 0);
  EXPECT_GE(plan.per_thread, 2 * 4096);
  EXPECT_EQ(plan.per_thread % 64, 0);
  EXPECT_NE(plan.per_thread % 4096, 0);
}

}  // namespace
}  // namespace tilewright::codegen
