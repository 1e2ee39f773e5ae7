#include "schedule/steps/bind.h"

#include <gtest/gtest.h>

#include "schedule/program_hash.h"
#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

TEST(Bind, Legal) {
  check_legal({
      {"matmul:m=64,n=32,k=16", "bind C i block_x\n", "bind C j thread_x", R"(
block_x for i < 64
  thread_x for j < 32
    for k < 16
      C (64x32) <- A, B
)"},
      // Virtual threads may be several.
      {"matmul:m=64,n=32,k=16", "bind C i virtual_thread\n", "bind C j virtual_thread", R"(
virtual_thread for i < 64
  virtual_thread for j < 32
    for k < 16
      C (64x32) <- A, B
)"},
  });
}

TEST(Bind, Illegal) {
  const std::string matmul = "matmul:m=8,n=8,k=8";
  check_illegal({
      {matmul, "", "bind C k thread_x", IllegalCode::ParallelReduce, {"k"}},
      {matmul, "annotate C i unroll\n", "bind C i block_x", IllegalCode::LoopIsAnnotated, {"i"}},
      {matmul, "bind C i block_y\n", "bind C i block_x", IllegalCode::LoopIsAnnotated, {"i"}},
      {matmul, "bind C i block_x\n", "annotate C i unroll", IllegalCode::LoopIsAnnotated, {"i"}},
      {matmul, "bind C i block_x\n", "split C i [2]", IllegalCode::LoopIsAnnotated, {"i"}},
      {matmul, "", "bind C q block_x", IllegalCode::NoSuchLoop, {"i, j, k"}},
      {matmul, "", "bind A i block_x", IllegalCode::StageIsInput, {"A"}},
  });
  // Threads of a CPU and of a GPU do not mix, also where a stage is attached.
  check_illegal({
      {matmul,
       "annotate C i parallel\n",
       "bind C j thread_x",
       IllegalCode::NestedParallel,
       {"loop j of C", "one level"}},
      {matmul,
       "bind C i block_x\n",
       "annotate C j parallel",
       IllegalCode::NestedParallel,
       {"loop j of C"}},
      {matmul,
       "cache_read A [C]\nannotate C i parallel\ncompute_at A.read C i\n",
       "bind A.read d1 thread_x",
       IllegalCode::NestedParallel,
       {"loop d1 of A.read"}},
  });
  const Workbench bench(matmul);
  EXPECT_EQ(bench.refusal("bind C i block_x\nbind C j block_x").code, IllegalCode::BoundTwice);
  EXPECT_EQ(bench
                .refusal("cache_read A [C]\nbind C i block_x\ncompute_at A.read C i\n"
                         "bind A.read d0 block_x")
                .code,
            IllegalCode::BoundTwice);
  EXPECT_EQ(bench
                .refusal("cache_read A [C] scope=global\nbind C j block_x\ncompute_at A.read C i\n"
                         "bind A.read d0 block_x")
                .code,
            IllegalCode::None);
}

// Blocks contain threads, also where a stage is attached.
TEST(Bind, BlocksAreOutsideThreads) {
  const std::string matmul = "matmul:m=8,n=8,k=8";
  check_illegal({
      {matmul,
       "bind C i thread_x\n",
       "bind C j block_x",
       IllegalCode::BlockInThread,
       {"loop j of C", "reorder it outside"}},
      {matmul, "bind C i virtual_thread\n", "bind C j block_x", IllegalCode::BlockInThread, {"j"}},
      {matmul,
       "cache_read A [C] scope=global\nbind C i thread_x\ncompute_at A.read C i\n",
       "bind A.read d1 block_x",
       IllegalCode::BlockInThread,
       {"loop d1 of A.read"}},
  });
  const Workbench bench(matmul);
  EXPECT_EQ(bench.refusal("bind C i block_x\nbind C j thread_x").code, IllegalCode::None);
}

// A thread cannot read what another thread stores in its own memory, nor a block what another block
// stores in shared memory.
TEST(Bind, ThreadsShareWhatTheyWriteTogether) {
  const Workbench bench("matmul:m=8,n=8,k=8");
  struct Case {
    std::string scope, axis;
    bool legal;
  };
  for (const Case& c :
       {Case{"", "thread_x", false}, Case{" scope=local", "thread_y", false},
        Case{" scope=register", "thread_x", false}, Case{" scope=shared", "thread_x", true},
        Case{" scope=global", "thread_x", true}, Case{"", "virtual_thread", true},
        Case{"", "block_y", false}, Case{" scope=shared", "block_y", false},
        Case{" scope=global", "block_y", true}}) {
    const std::string steps = "cache_read A [C]" + c.scope +
                              "\nbind C i block_x\nbind C j thread_x\ncompute_at A.read C i\n" +
                              "bind A.read d0 " + c.axis;
    EXPECT_EQ(bench.refusal(steps).code, c.legal ? IllegalCode::None : IllegalCode::ScopeTooNarrow)
        << steps;
  }
  // A writer without bound loops fills a copy per thread.
  EXPECT_EQ(bench
                .refusal("cache_read A [C]\nbind C i block_x\nbind C j thread_x\n"
                         "compute_at A.read C i")
                .code,
            IllegalCode::None);
  const std::string reason = bench.explanation(
      "cache_read A [C]\nbind C i block_x\ncompute_at A.read C i\nbind A.read d0 thread_x");
  EXPECT_TRUE(
      reason.starts_with("illegal step 4 `bind A.read d0 thread_x`: the iterations of loop "
                         "d0 of A.read run on several threads, which do not share local"))
      << reason;
}

// Two blocks would fold into the elements that overlapping tiles share.
TEST(Bind, ReductionTilesDoNotOverlap) {
  const Workbench bench("matmul:m=8,n=8,k=8");
  for (const std::string axis : {"block_x", "thread_y", "virtual_thread"}) {
    const std::string bind = "bind C i.0 " + axis;
    EXPECT_EQ(bench.refusal("split C i [3] tail=overlap\n" + bind).code,
              IllegalCode::OverlapParallel)
        << axis;
    EXPECT_EQ(bench.refusal("split C i [3]\n" + bind).code, IllegalCode::None) << axis;
    // A copy may be stored twice.
    EXPECT_EQ(
        bench
            .refusal("cache_write C\nsplit C i [3] tail=overlap\ncompute_at C.write C i.0\n" + bind)
            .code,
        IllegalCode::None)
        << axis;
  }
}

TEST(Bind, ChangesTheProgram) {
  const Workbench bench("matmul:m=8,n=8,k=8");
  const Hash128 plain = program_hash(bench.tree(""));
  const Hash128 block = program_hash(bench.tree("bind C i block_x"));
  EXPECT_NE(plain, block);
  EXPECT_NE(block, program_hash(bench.tree("bind C i block_y")));
  EXPECT_NE(block, program_hash(bench.tree("bind C j block_x")));
}

}  // namespace
}  // namespace tilewright::schedule::testing
