#include "lower/memory_scope.h"

#include <gtest/gtest.h>

#include "ir/print.h"
#include "lower/pipeline.h"
#include "schedule/apply.h"
#include "task/parse.h"

namespace tilewright::lower {
namespace {

TEST(MemoryScope, EachMapsToAnIrScope) {
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
    EXPECT_EQ(ir_scope(CpuTarget(), c.memory, c.bytes, c.in_parallel), c.scope)
        << static_cast<int>(c.memory) << ' ' << c.bytes << ' ' << c.in_parallel;
  }
}

// The size of a buffer and the loops around it change nothing: a thread's buffer that became a
// workspace would be one for all threads.
TEST(MemoryScope, ADeviceKeepsTheChoiceOfTheSchedule) {
  using enum MemoryScope;
  const Target device = *parse_target("cuda:sm_80");
  for (const int64_t bytes : {int64_t{64}, kStackBytes + 1}) {
    for (const bool in_parallel : {false, true}) {
      EXPECT_EQ(ir_scope(device, Global, bytes, in_parallel), ir::Scope::DeviceGlobal);
      EXPECT_EQ(ir_scope(device, Shared, bytes, in_parallel), ir::Scope::Shared);
      EXPECT_EQ(ir_scope(device, Local, bytes, in_parallel), ir::Scope::DeviceLocal);
      EXPECT_EQ(ir_scope(device, Register, bytes, in_parallel), ir::Scope::DeviceRegister);
    }
  }
}

Result<ir::Function> lowered(std::string_view steps, std::string_view what = "matmul:m=8,n=8,k=8",
                             std::string_view target = "x86-64-v4;threads=1",
                             const LowerOptions& options = {}) {
  const Workload workload = *parse_workload(what);
  const schedule::LoopTree initial = *schedule::initial_tree(workload);
  const schedule::Trace trace = *schedule::trace_from_text(steps);
  const schedule::LoopTree tree = TRY(schedule::apply_or_explain(initial, trace));
  return lower(workload, *parse_target(target), tree, trace, options);
}

ir::Scope scope_in(const ir::Function& function, std::string_view name) {
  for (const ir::Buffer& buffer : function.buffers) {
    if (buffer.name == name) return buffer.scope;
  }
  ADD_FAILURE() << "no buffer " << name;
  return ir::Scope::Argument;
}

TEST(MemoryScope, IsChosenBySteps) {
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
TEST(MemoryScope, ExplicitScopesAreNotPromoted) {
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

TEST(MemoryScope, BuffersMoveToTheStackUpToItsLimit) {
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
  function.buffers[6].scope = ir::Scope::DeviceLocal;  // a device has no stack of the host
  move_to_stack(function, all);
  EXPECT_EQ(function.buffers[6].scope, ir::Scope::DeviceLocal);
}

// A tile of 64 KiB per thread, and accumulators of another type than their result.
TEST(MemoryScope, BuffersOfDeviceThreadsReachTheBackEnd) {
  constexpr std::string_view kDevice = "cuda:sm_80";
  constexpr std::string_view kWhat = "matmul:m=8,n=8,k=16384,dtype=bf16";
  const std::string threads = "bind C i block_x\nbind C j thread_x\n";
  const auto copy = [&](std::string_view scope) {
    const bool of_block = scope == " scope=shared";
    return "cache_read A [C]" + std::string(scope) + "\n" + threads + "compute_at A.read C " +
           (of_block ? "i" : "j");
  };
  struct Case {
    std::string_view scope;
    ir::Scope expected;
  };
  for (const Case& c :
       {Case{"", ir::Scope::DeviceLocal}, Case{" scope=local", ir::Scope::DeviceLocal},
        Case{" scope=register", ir::Scope::DeviceRegister},
        Case{" scope=shared", ir::Scope::Shared}, Case{" scope=global", ir::Scope::DeviceGlobal}}) {
    const Result<ir::Function> function = lowered(copy(c.scope), kWhat, kDevice, {.passes = {}});
    ASSERT_TRUE(function) << function.error().message;
    EXPECT_EQ(scope_in(*function, "A.read"), c.expected) << c.scope;
    EXPECT_EQ(scope_in(*function, "C.acc"), ir::Scope::DeviceLocal) << c.scope;
  }
  // Passes for a CPU keep it.
  const Result<ir::Function> passed = lowered(copy(" scope=register"), kWhat, kDevice);
  ASSERT_TRUE(passed) << passed.error().message;
  EXPECT_EQ(scope_in(*passed, "A.read"), ir::Scope::DeviceRegister);
}

TEST(MemoryScope, ACpuHasNoSharedMemory) {
  const Result<ir::Function> function =
      lowered("cache_read A [C] scope=shared\ncompute_at A.read C i");
  ASSERT_FALSE(function);
  EXPECT_EQ(function.error().kind, ErrorKind::Unsupported);
  EXPECT_TRUE(
      function.error().message.starts_with("A.read is in shared memory, which the target x86-64"))
      << function.error().message;
}

}  // namespace
}  // namespace tilewright::lower
