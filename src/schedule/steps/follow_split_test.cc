#include "schedule/steps/follow_split.h"

#include <gtest/gtest.h>

#include "schedule/program_hash.h"
#include "schedule/testing.h"

namespace tilewright::schedule::testing {
namespace {

const std::string kConv = "conv2d:h=30,w=30,ci=2,co=4,kernel=3,pad=1";

TEST(FollowSplit, Legal) {
  const std::string chain = "elementwise:shape=128x6,chain=relu+square";
  check_legal({
      {chain, "split Y i [2, 2, 8]\n", "follow_split T1 i Y i 3", R"(
for i.0 < 4
  for i.1 < 2
    for i.2 < 16
      for j < 6
        T1 (128x6) <- X
for i.0 < 4
  for i.1 < 2
    for i.2 < 2
      for i.3 < 8
        for j < 6
          Y (128x6) <- T1
)"},
      {chain, "split Y i [24]\n", "follow_split T1 i Y i 2 tail=overlap", R"(
for i.0 < 6
  for i.1 < 24
    for j < 6
      T1 (128x6) <- X
for i.0 < 6
  for i.1 < 24 or fewer
    for j < 6
      Y (128x6) <- T1
)"},
      {chain, "split Y i [4, 8]\nsplit Y j [3, 2]\nfuse T1 [i, j]\n",
       "follow_fused_split T1 (i,j) Y [i, j] 1", R"(
for (i,j).0 < 48
  for (i,j).1 < 16
    T1 (128x6) <- X
for i.0 < 4
  for i.1 < 4
    for i.2 < 8
      for j.0 < 1
        for j.1 < 3
          for j.2 < 2
            Y (128x6) <- T1
)"},
      // A split that rfactor has moved to another stage.
      {"matmul:m=8,n=4,k=6", "split C k [2]\nrfactor C k.1\n", "follow_split C i C.rfactor k 2", R"(
for i < 8
  for j < 4
    for k.1 < 2
      for k.0 < 3
        C.rfactor (8x4x2) <- A, B
for i.0 < 4
  for i.1 < 2
    for j < 4
      for k.1 < 2
        C (8x4) <- C.rfactor
)"},
  });
}

TEST(FollowSplit, Illegal) {
  const std::string cut = "split Y y [5]\n";
  check_illegal({
      {kConv,
       "",
       "follow_split P y Y y 2",
       IllegalCode::NoSuchSplit,
       {"y of Y was not split before this step"}},
      {kConv, cut, "follow_split P y Y y 3", IllegalCode::BadParts, {"3 parts", "has 2"}},
      {kConv, cut, "follow_split P y Y y 1", IllegalCode::BadParts, {"1 parts"}},
      {kConv, cut, "follow_split P q Y y 2", IllegalCode::NoSuchLoop, {"n, y, x, c"}},
      {kConv, cut, "follow_fused_split P y Y [] 0", IllegalCode::NoSuchSplit, {"was not split"}},
      {kConv, cut, "follow_fused_split P y Y [y] 1", IllegalCode::BadLevel, {"levels 0 to 0"}},
      {kConv, cut, "follow_fused_split P y Y [y, x] 0", IllegalCode::NoSuchSplit, {"x of Y"}},
  });
}

// A list of loops is as long as a stage has loops.
TEST(FollowSplit, NamesUpToTheMaximumOfLoops) {
  const auto step = [](size_t loops) {
    std::string names;
    for (size_t k = 0; k < loops; ++k) names += (k == 0 ? "a" : ", a") + std::to_string(k);
    return trace_from_text("follow_fused_split P x Y [" + names + "] 0\n");
  };
  EXPECT_TRUE(step(kMaxLoops).has_value());
  EXPECT_FALSE(step(kMaxLoops + 1).has_value());
}

// New tile sizes of the source are those of the follower.
TEST(FollowSplit, RetilesWithItsSource) {
  const Workbench bench(kConv);
  Trace trace = trace_of("split Y y [5]\nfollow_split P y Y y 2\nfollow_fused_split P x Y [y] 0\n");
  LoopTree tree;
  ASSERT_FALSE(apply(bench.initial(), trace, &tree));
  EXPECT_EQ(var_of(tree, "P", "y.1").extent, 5);
  std::get<Split>(trace.steps[0]).factors = {8};
  ASSERT_FALSE(retile(trace, &tree));
  EXPECT_EQ(var_of(tree, "P", "y.1").extent, 8);
  EXPECT_EQ(var_of(tree, "P", "x.1").extent, 8);
  LoopTree anew;
  ASSERT_FALSE(apply(bench.initial(), trace, &anew));
  EXPECT_EQ(program_hash(anew), program_hash(tree));
}

}  // namespace
}  // namespace tilewright::schedule::testing
