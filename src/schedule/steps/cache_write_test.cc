#include "schedule/steps/cache_write.h"

#include <gtest/gtest.h>

#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

TEST(CacheWrite, Legal) {
  check_legal({
      {"matmul:m=4,n=6,k=8", "", "cache_write C", R"(
for i < 4
  for j < 6
    for k < 8
      C.write (4x6) <- A, B
for i < 4
  for j < 6
    C (4x6) <- C.write
)"},
      {"elementwise:shape=4x8,chain=relu+exp", "", "cache_write T1", R"(
for i < 4
  for j < 8
    T1.write (4x8) <- X
for i < 4
  for j < 8
    T1 (4x8) <- T1.write
for i < 4
  for j < 8
    Y (4x8) <- T1
)"},
      // Reordered and back again, the loops are the axes.
      {"matmul:m=4,n=6,k=8", "reorder C [j, i]\nreorder C [i, j]\n", "cache_write C", R"(
for i < 4
  for j < 6
    for k < 8
      C.write (4x6) <- A, B
for i < 4
  for j < 6
    C (4x6) <- C.write
)"},
  });
}

TEST(CacheWrite, AttachedStageHoldsOneTile) {
  const Workbench bench("matmul:m=64,n=64,k=16");
  EXPECT_EQ(bench
                .tree("cache_write C\nsplit C i [8]\nsplit C j [32]\nreorder C [i.0, j.0, i.1, "
                      "j.1]\ncompute_at C.write C j.0\n")
                .to_string(),
            R"(A: input
B: input
for i.0 < 8
  for j.0 < 2
    for i < 8
      for j < 32
        for k < 16
          C.write (8x32) <- A, B
    for i.1 < 8
      for j.1 < 32
        C (64x64) <- C.write
)");
}

// Sums are held in the type they are accumulated in, and stored in the type of the operator.
TEST(CacheWrite, HasTheTypeOfTheAccumulator) {
  const Workbench bench("matmul:m=4,n=6,k=8,dtype=f16");
  const LoopTree tree = bench.tree("cache_write C");
  const auto element = [&](std::string_view stage) {
    return tree.buffer(tree.stage(tree.find_stage(stage_of(stage))).first_buffer).element;
  };
  EXPECT_EQ(element("C.write"), ir::Scalar::F32);
  EXPECT_EQ(element("C"), ir::Scalar::F16);
}

TEST(CacheWrite, Illegal) {
  const std::string matmul = "matmul:m=4,n=6,k=8";
  check_illegal({
      {matmul, "", "cache_write A", IllegalCode::StageIsInput, {"A is an input"}},
      {matmul, "", "cache_write D", IllegalCode::NoSuchStage, {"no stage D"}},
      {matmul,
       "cache_write C\n",
       "cache_write C",
       IllegalCode::AlreadyCached,
       {"C is a copy already"}},
      {matmul,
       "cache_write C\n",
       "cache_write C.write",
       IllegalCode::AlreadyCached,
       {"C.write", "already"}},
      {matmul,
       "cache_read A [C]\n",
       "cache_write A.read",
       IllegalCode::AlreadyCached,
       {"A.read is a copy already"}},
      {matmul,
       "split C i [2]\n",
       "cache_write C",
       IllegalCode::StageHasSteps,
       {"C has been scheduled already", "comes before"}},
      {matmul, "reorder C [j, i]\n", "cache_write C", IllegalCode::StageHasSteps, {"C"}},
      {matmul,
       "annotate C i parallel\n",
       "cache_write C",
       IllegalCode::LoopIsAnnotated,
       {"loop i of C"}},
      {matmul,
       "cache_read A [C]\ncompute_at A.read C i\n",
       "cache_write C",
       IllegalCode::LoopIsAttachPoint,
       {"loop i of C"}},
      {"softmax:m=4,n=8",
       "compute_at M E i\n",
       "cache_write M",
       IllegalCode::StageHasSteps,
       {"placement"}},
      {"softmax:m=4,n=8",
       "compute_inline E\n",
       "cache_write E",
       IllegalCode::StageIsInlined,
       {"E is inlined"}},
  });
}

TEST(CacheWrite, ChoosesTheMemory) {
  check_legal(
      {{"matmul:m=4,n=6,k=8", "cache_write C scope=register\n", "compute_at C.write C i", R"(
for i < 4
  for i < 1
    for j < 6
      for k < 8
        C.write (1x6) in register memory <- A, B
  for j < 6
    C (4x6) <- C.write
)"}});
  check_round_trip("cache_write C scope=register");
  check_illegal({{"matmul:m=4,n=6,k=8",
                  "",
                  "cache_write C scope=register",
                  IllegalCode::ScopeAtRoot,
                  {"C.write is computed at root"}}});
}

}  // namespace
}  // namespace tilewright::schedule::testing
