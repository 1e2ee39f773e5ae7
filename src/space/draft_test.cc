#include "space/draft.h"

#include <gtest/gtest.h>

#include "space/layout_testing.h"

namespace tilewright::space {
namespace {

TEST(Draft, AnOperatorIsOpenUntilARuleDecides) {
  LayoutBench bench("softmax:m=32,n=64");
  const auto open = [&](const Draft& draft) { return is_open(bench.space, draft, bench.op("S")); };
  const StageName stage{Name("S")};
  EXPECT_TRUE(open({}));
  EXPECT_FALSE(is_open(bench.space, {}, bench.op("X")));  // an input
  EXPECT_FALSE(open({.inlined = {stage}}));
  EXPECT_FALSE(open({.factored = {{.stage = stage, .axis = {}}}}));
  EXPECT_FALSE(open({.rowed = {{.stage = stage, .root = {Name("Y")}}}}));
  EXPECT_FALSE(open({.chained = {{Name("Y")}, stage}}));
  EXPECT_FALSE(open({.unrolled = {stage}}));
  EXPECT_FALSE(open({.done = {stage}}));
  EXPECT_TRUE(open({.done = {{Name("Y")}}}));
}

TEST(Draft, FindsRowsOfARoot) {
  const Draft draft{.rowed = {{.stage = {Name("C")}, .root = {Name("Y")}, .lead = 1}}};
  ASSERT_NE(draft.rows_in({Name("Y")}), nullptr);
  EXPECT_EQ(draft.rows_in({Name("Y")})->stage, StageName{Name("C")});
  EXPECT_EQ(draft.rows_in({Name("C")}), nullptr);
}

}  // namespace
}  // namespace tilewright::space
