#include "heuristic/thread_loops.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::heuristic {
namespace {

using schedule::testing::stage_of;
using schedule::testing::Workbench;

struct ParallelCase {
  const char* workload;
  const char* target;
  bool large;
  std::vector<Name> outer;
  const char* steps;
  const char* loop;
};

TEST(ThreadLoops, SomeIterationsForEachThread) {
  const Name i("i"), j("j");
  const std::vector<ParallelCase> cases = {
      {"matmul:m=64,n=64,k=64",
       "x86-64-v4;threads=2",
       true,
       {i, j},
       "annotate C i parallel\n",
       "i"},
      {"matmul:m=4,n=64,k=64",
       "x86-64-v4;threads=2",
       true,
       {i, j},
       "fuse C [i, j]\nannotate C (i,j) parallel\n",
       "(i,j)"},
      // One long loop: sixteen chunks per thread.
      {"matmul:m=1024,n=64,k=64",
       "x86-64-v4;threads=2",
       true,
       {i},
       "split C i [32]\nannotate C i.0 parallel\n",
       "i.0"},
      {"matmul:m=64,n=64,k=64", "x86-64-v4;threads=1", true, {i, j}, "", "i"},
      {"matmul:m=64,n=64,k=64", "x86-64-v4;threads=2", false, {i, j}, "", "i"},
      {"matmul:m=1,n=1,k=64", "x86-64-v4;threads=2", true, {i, j}, "", "i"},
  };
  for (const ParallelCase& c : cases) {
    const Workbench bench(c.workload);
    const Target target = parse_target(c.target).value();
    schedule::TraceBuilder builder(bench.initial());
    Tiling tiling{builder, target, {}};
    std::vector<Name> outer = c.outer;
    const auto loop =
        make_parallel(tiling, tiling.tree().find_stage(stage_of("C")), outer, c.large);
    ASSERT_TRUE(loop.has_value()) << c.workload;
    EXPECT_EQ(loop->text(), c.loop) << c.workload;
    EXPECT_EQ(outer[0], *loop) << c.workload;
    EXPECT_EQ(schedule::to_text(builder.trace()), c.steps) << c.workload;
  }
}

TEST(ThreadLoops, SmallWorkUsesOneThread) {
  const Target target = parse_target("x86-64-v4;threads=2").value();
  const auto worth = [&](const char* workload) {
    const Workbench bench(workload);
    const schedule::LoopTree tree = bench.tree("");
    return is_worth_threads(tree, tree.find_stage(stage_of("Y")), target);
  };
  EXPECT_FALSE(worth("elementwise:shape=16x16,chain=relu"));
  EXPECT_TRUE(worth("elementwise:shape=1024x1024,chain=relu"));
}

// The quotients of a softmax of short rows alone are too little work.
TEST(ThreadLoops, StagesOfANestCountTogether) {
  const Target target = parse_target("x86-64-v4;threads=16").value();
  const Workbench bench("softmax:m=600,n=50");
  const schedule::LoopTree tree = bench.tree("");
  std::vector<schedule::StageIndex> stages;
  for (const char* name : {"M", "E", "S", "Y"}) stages.push_back(tree.find_stage(stage_of(name)));
  EXPECT_FALSE(is_worth_threads(tree, stages.back(), target));
  EXPECT_TRUE(is_worth_threads(tree, stages, target));
}

// One threshold for both: a search can choose every decision of the default schedule.
TEST(ThreadLoops, ASearchMayTryModerateWorkWithoutThreads) {
  const Target target = parse_target("x86-64-v3;threads=2").value();
  struct Case {
    const char* workload;
    double operations;
    bool worth, always;
  };
  for (const Case& c : {Case{"elementwise:shape=2730x8,chain=relu", 8190, false, false},
                        Case{"elementwise:shape=2731x8,chain=relu", 8193, true, false},
                        Case{"elementwise:shape=10922x8,chain=relu", 32766, true, false},
                        Case{"elementwise:shape=10923x8,chain=relu", 32769, true, true}}) {
    const Workbench bench(c.workload);
    const schedule::LoopTree tree = bench.tree("");
    const schedule::StageIndex stage = tree.find_stage(stage_of("Y"));
    EXPECT_EQ(vector_operations(tree, stage, target), c.operations) << c.workload;
    EXPECT_EQ(is_worth_threads(tree, stage, target), c.worth) << c.workload;
    EXPECT_EQ(is_always_threaded(tree, stage, target), c.always) << c.workload;
  }
}

}  // namespace
}  // namespace tilewright::heuristic
