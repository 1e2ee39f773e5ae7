#include "space/nest_placer.h"

#include <gtest/gtest.h>

#include "space/layout_testing.h"

namespace tilewright::space {
namespace {

// Y reads E and R, R reads S, S reads E, E reads M and X.
Nest softmax_nest(const LayoutBench& bench) {
  return {.root = {Name("Y")},
          .variants = {{.steps = {}, .loops = {Name("i")}}},
          .inside = {bench.op("Y")}};
}

TEST(NestPlacer, PlacesStagesReadOnlyInTheNest) {
  LayoutBench bench("softmax:m=32,n=64");
  NestPlacer placer(bench.layout, bench.draft);
  placer.place(softmax_nest(bench));
  for (const char* name : {"M", "E", "S", "R"})
    EXPECT_TRUE(placer.is_placed(bench.op(name))) << name;
  EXPECT_FALSE(placer.is_placed(bench.op("Y")));
  EXPECT_FALSE(placer.is_placed(bench.op("X")));
  EXPECT_EQ(bench.holes(), "tile R 2, tile S 3, tile E 3, tile M 3, location Y 16");
  EXPECT_EQ(bench.choice(4, 0), "compute_inline R |  |  | compute_inline E |  | ");
  EXPECT_EQ(bench.choice(4, 15),
            " | compute_at R Y i | compute_at S Y i |  | compute_at E Y i | compute_at M Y i");
}

TEST(NestPlacer, KeepsPlacementsOfRules) {
  LayoutBench bench("softmax:m=32,n=64");
  bench.draft.done = {{Name("S")}};
  NestPlacer placer(bench.layout, bench.draft);
  placer.place(softmax_nest(bench));
  EXPECT_TRUE(placer.is_placed(bench.op("R")));
  EXPECT_FALSE(placer.is_placed(bench.op("S")));
  EXPECT_FALSE(placer.is_placed(bench.op("E")));  // S reads it, which is not in the nest
  EXPECT_EQ(bench.holes(), "tile R 2, location Y 3");
}

// Then only the variants are choices.
TEST(NestPlacer, WithoutMembersOnlyThreadsAreChosen) {
  LayoutBench bench("matmul:m=64,n=64,k=64");
  NestPlacer placer(bench.layout, bench.draft);
  const StageName stage{Name("C")};
  const schedule::Annotate parallel{stage, Name("i"), schedule::Annotation::Parallel};
  placer.place({.root = stage,
                .site = bench.writer.add_site(parallel),
                .variants = {{.steps = {}, .loops = {Name("i")}},
                             {.steps = {parallel}, .loops = {Name("i")}}},
                .inside = {bench.op("C")}});
  EXPECT_EQ(bench.holes(), "parallel C 2");
  EXPECT_EQ(bench.choice(0, 0), "");
  EXPECT_EQ(bench.choice(0, 1), "annotate C i parallel");
}

}  // namespace
}  // namespace tilewright::space
