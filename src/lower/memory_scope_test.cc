#include "lower/memory_scope.h"

#include <gtest/gtest.h>

#include "ir/print.h"
#include "lower/pipeline.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::lower {
namespace {

TEST(MemoryScope, EachHasItsScopeOfTheLoopIr) {
  using enum MemoryScope;
  struct Case {
    MemoryScope memory;
    int64_t bytes;
    bool in_parallel;
    ir::Scope scope;
  };
  constexpr Case kCases[] = {
      {Global, 64, false, ir::Scope::Workspace},
      {Global, 64, true, ir::Scope::Thread},
      {Shared, 64, false, ir::Scope::Shared},
      {Shared, 1 << 20, true, ir::Scope::Shared},
      {Local, kStackBytes, true, ir::Scope::Stack},
      {Local, kStackBytes + 1, true, ir::Scope::Thread},
      {Local, kStackBytes + 1, false, ir::Scope::Workspace},
      {Register, kStackBytes, false, ir::Scope::Stack},
      {Register, kStackBytes + 1, true, ir::Scope::Thread},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(ir_scope(c.memory, c.bytes, c.in_parallel), c.scope)
        << static_cast<int>(c.memory) << ' ' << c.bytes << ' ' << c.in_parallel;
  }
}

Result<ir::Function> lowered(std::string_view steps) {
  const Workload workload = *parse_workload("matmul:m=8,n=8,k=8");
  const schedule::LoopTree initial = *schedule::initial_tree(workload);
  const schedule::Trace trace = *schedule::trace_from_text(steps);
  const schedule::LoopTree tree = TRY(schedule::apply_or_explain(initial, trace));
  return lower(workload, *parse_target("x86-64-v4;threads=1"), tree, trace);
}

ir::Scope scope_in(const ir::Function& function, std::string_view name) {
  for (const ir::Buffer& buffer : function.buffers) {
    if (buffer.name == name) return buffer.scope;
  }
  ADD_FAILURE() << "no buffer " << name;
  return ir::Scope::Argument;
}

TEST(MemoryScope, StepsChooseIt) {
  const std::string_view place = "\ncompute_at A.read C i";
  struct Case {
    std::string_view step;
    ir::Scope scope;
  };
  for (const Case& c : {Case{"cache_read A [C]", ir::Scope::Stack},
                        Case{"cache_read A [C] scope=local", ir::Scope::Stack},
                        Case{"cache_read A [C] scope=register", ir::Scope::Stack},
                        Case{"cache_read A [C] scope=global", ir::Scope::Workspace}}) {
    const Result<ir::Function> function = lowered(std::string(c.step).append(place));
    ASSERT_TRUE(function) << c.step << ": " << function.error().message;
    EXPECT_EQ(scope_in(*function, "A.read"), c.scope) << c.step;
  }
  // At the root the default is global memory; a small copy is on the stack all the same.
  const Result<ir::Function> root = lowered("cache_read A [C]");
  ASSERT_TRUE(root);
  EXPECT_EQ(scope_in(*root, "A.read"), ir::Scope::Stack);
}

// Accesses at constant places become registers, unless a step chose memory for them.
TEST(MemoryScope, AChosenMemoryIsNotPromoted) {
  const auto with = [](std::string_view scope) {
    return lowered("cache_write C" + std::string(scope) +
                   "\ncompute_at C.write C i\nannotate C.write j unroll\nannotate C j unroll\n"
                   "reorder C.write [k, i, j]");
  };
  const auto has = [](const ir::Function& function, std::string_view line) {
    return ir::to_string(function).find(line) != std::string::npos;
  };
  const Result<ir::Function> usual = with(""), chosen = with(" scope=global");
  ASSERT_TRUE(usual && chosen);
  EXPECT_FALSE(has(*usual, "allocate C.write:")) << ir::to_string(*usual);
  EXPECT_TRUE(has(*chosen, "allocate C.write:")) << ir::to_string(*chosen);
  EXPECT_EQ(scope_in(*chosen, "C.write"), ir::Scope::Workspace);
}

TEST(MemoryScope, BuffersMoveToTheStackWhileThereIsRoom) {
  ir::Function function;
  std::vector<ir::BufferId> all;
  // Five of 15 KiB, of which four are together within 64 KiB; one that is too large; a small one.
  for (const int64_t floats : {3840, 3840, 3840, 3840, 3840, 5000, 16}) {
    all.push_back(static_cast<ir::BufferId>(function.buffers.size()));
    function.buffers.push_back(
        {.name = "b", .element = ir::kF32, .shape = {floats}, .scope = ir::Scope::Thread});
  }
  move_to_stack(function, all);
  std::vector<ir::Scope> scopes;
  for (const ir::Buffer& buffer : function.buffers) scopes.push_back(buffer.scope);
  constexpr ir::Scope kStack = ir::Scope::Stack, kThread = ir::Scope::Thread;
  EXPECT_EQ(scopes,
            (std::vector<ir::Scope>{kStack, kStack, kStack, kStack, kThread, kThread, kStack}));
}

TEST(MemoryScope, ACpuHasNoSharedMemory) {
  const Result<ir::Function> function =
      lowered("cache_read A [C] scope=shared\ncompute_at A.read C i");
  ASSERT_FALSE(function);
  EXPECT_EQ(function.error().kind, ErrorKind::Unsupported);
  EXPECT_TRUE(function.error().message.starts_with(
      "A.read lives in shared memory, which the target x86-64"))
      << function.error().message;
}

}  // namespace
}  // namespace tilewright::lower
