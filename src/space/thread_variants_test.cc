#include "space/thread_variants.h"

#include <gtest/gtest.h>

#include "space/layout_testing.h"

namespace tilewright::space {
namespace {

const StageName kStage{Name("C")};

Target target_of(int threads) {
  return parse_target(fmt::format("x86-64-v4;threads={}", threads)).value();
}

// `steps -> loops` of each variant.
std::vector<std::string> texts_of(const std::vector<ThreadVariant>& variants) {
  std::vector<std::string> texts;
  for (const ThreadVariant& variant : variants) {
    std::string loops;
    for (const Name loop : variant.loops) loops += " " + loop.text();
    texts.push_back(steps_text(variant.steps) + " ->" + loops);
  }
  return texts;
}

PlainLoops two_loops() {
  PlainLoops loops;
  loops.outer = {{Name("i"), 64}, {Name("j"), 4}};
  return loops;
}

TEST(ThreadVariants, FuseMoreAndMoreLoops) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(
      texts_of(thread_variants(target_of(2), kStage, two_loops(), true)),
      (Texts{"annotate C i parallel -> i j", "fuse C [i, j]; annotate C (i,j) parallel -> (i,j)"}));
  EXPECT_EQ(texts_of(thread_variants(target_of(2), kStage, two_loops(), false)).front(), " -> i j");
  EXPECT_EQ(texts_of(thread_variants(target_of(1), kStage, two_loops(), true)), (Texts{" -> i j"}));
}

TEST(ThreadVariants, RowsHaveOneParallelLoop) {
  PlainLoops loops;
  loops.lead = {{Name("b"), 2}, {Name("i.0"), 8}};
  loops.row = Name("i.1");
  loops.outer = {{Name("j"), 4}};
  EXPECT_EQ(texts_of(thread_variants(target_of(2), kStage, loops, true)),
            (std::vector<std::string>{"fuse C [b, i.0]; annotate C (b,i.0) parallel -> (b,i.0) "
                                      "i.1"}));
}

TEST(ParallelSteps, FuseEnoughLoopsForTheThreads) {
  const std::vector<PlannedLoop> loops = {{Name("i"), 16}, {Name("j"), 4}};
  EXPECT_EQ(steps_text(parallel_steps(target_of(2), kStage, loops)), "annotate C i parallel");
  EXPECT_EQ(steps_text(parallel_steps(target_of(4), kStage, loops)),
            "fuse C [i, j]; annotate C (i,j) parallel");
  EXPECT_TRUE(parallel_steps(target_of(1), kStage, loops).empty());
}

}  // namespace
}  // namespace tilewright::space
