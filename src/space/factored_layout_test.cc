#include "space/factored_layout.h"

#include <gtest/gtest.h>

#include "space/layout_testing.h"

namespace tilewright::space {
namespace {

FactoredStage sum(bool outer) {
  return {.stage = {Name("Y")}, .axis = Name("rj"), .outer = outer, .unit = 64};
}

TEST(FactoredLayout, ThreadsLeaveLanesOfTheRemainder) {
  LayoutBench bench("reduce:op=sum,shape=64x4096,axes=1");
  lay_out_factored(bench.layout, sum(true));
  EXPECT_EQ(bench.steps(),
            "split Y.rfactor rj.1 [16]\n"
            "reorder Y.rfactor [rj.0, i, rj.1.0, rj.1.1]\n"
            "annotate Y.rfactor rj.1.1 vectorize\n"
            "fuse Y.rfactor [rj.0, i]\n"
            "annotate Y i vectorize\n");
  EXPECT_EQ(bench.holes(), "tile Y.rfactor 4, parallel Y 2, vectorize Y 2");
}

TEST(FactoredLayout, LanesVectorizeTheFactoredPart) {
  LayoutBench bench("reduce:op=sum,shape=64x4096,axes=1");
  lay_out_factored(bench.layout, sum(false));
  EXPECT_EQ(bench.steps(),
            "reorder Y.rfactor [i, rj.0, rj.1]\n"
            "annotate Y.rfactor rj.1 vectorize\n"
            "annotate Y.rfactor i parallel\n"
            "annotate Y i vectorize\n");
  EXPECT_EQ(bench.holes(), "vectorize Y 2");
}

// A quarter of that work may be faster on one thread.
TEST(FactoredLayout, ThreadsAreAChoiceForModerateWork) {
  LayoutBench bench("reduce:op=sum,shape=16x4096,axes=1");
  lay_out_factored(bench.layout, sum(true));
  EXPECT_EQ(bench.holes(), "tile Y.rfactor 4, parallel Y 3, vectorize Y 2");
}

TEST(FactoredLayout, SingleThreadHasNoParallelLoop) {
  LayoutBench bench("reduce:op=sum,shape=16x4096,axes=1", {}, "x86-64-v4;threads=1");
  lay_out_factored(bench.layout, sum(false));
  EXPECT_EQ(bench.steps().find("parallel"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::space
