#include "space/plain_layout.h"

#include <gtest/gtest.h>

#include "space/layout_testing.h"

namespace tilewright::space {
namespace {

TEST(PlainLayout, SplitsElementwiseStagesIntoLanesAndChunks) {
  LayoutBench bench("elementwise:shape=64x96,chain=scale(2)");
  const PlainLoops loops = lay_out_plain(bench.layout, bench.op("Y"), 0, RowBlocks::Chunks);
  EXPECT_EQ(bench.steps(),
            "split Y i [1]\n"
            "split Y j [16]\n"
            "reorder Y [i.0, i.1, j.0, j.1]\n"
            "annotate Y j.1 vectorize\n");
  EXPECT_EQ(bench.holes(), "tile Y 5, tile Y 4");
  ASSERT_EQ(loops.outer.size(), 3U);
  EXPECT_EQ(loops.outer[0].name.text(), "i.0");
  EXPECT_EQ(loops.lane.text(), "j.1");
}

TEST(PlainLayout, WithoutTailsOffersSizesThatDivide) {
  const auto lanes = [](std::set<std::string> off) {
    LayoutBench bench("elementwise:shape=100,chain=scale(2)", std::move(off));
    lay_out_plain(bench.layout, bench.op("Y"), 0, RowBlocks::Own);
    return bench.steps() + bench.holes();
  };
  EXPECT_EQ(lanes({}),
            "split Y i [16]\n"
            "reorder Y [i.0, i.1]\n"
            "annotate Y i.1 vectorize\n"
            "tile Y 4");
  EXPECT_EQ(lanes({"tails"}),
            "split Y i [100]\n"
            "reorder Y [i.0, i.1]\n"
            "annotate Y i.1 vectorize\n");
}

// The split of the rows is there, with any factors: the hole of the RowStage fills it.
TEST(PlainLayout, SharedRowsAreSplitTwiceWithoutHoles) {
  LayoutBench bench("softmax:m=128,n=64");
  const PlainLoops loops = lay_out_plain(bench.layout, bench.op("Y"), 1, RowBlocks::Shared);
  EXPECT_EQ(bench.steps(),
            "split Y i [1, 1]\n"
            "split Y j [16]\n"
            "reorder Y [i.0, i.1, i.2, j.0, j.1]\n"
            "annotate Y j.1 vectorize\n");
  EXPECT_EQ(bench.holes(), "tile Y 3");  // of j
  EXPECT_EQ(loops.row_step, 0);
  EXPECT_EQ(loops.block.text(), "i.1");
  EXPECT_EQ(loops.row.text(), "i.2");
}

// The elements of a tile are unrolled next to the lanes; an axis without more of them is whole.
TEST(PlainLayout, CutsTilesOfATransform) {
  LayoutBench bench("elementwise:shape=14x3x64,chain=scale(2)");
  const std::vector<int64_t> sides = {4, 4, 0};
  const PlainLoops loops = lay_out_plain(bench.layout, bench.op("Y"), 0, RowBlocks::Chunks, sides);
  EXPECT_EQ(bench.steps(),
            "split Y i [4]\n"
            "split Y k [16]\n"
            "reorder Y [i.0, k.0, i.1, j, k.1]\n"
            "annotate Y k.1 vectorize\n"
            "annotate Y i.1 unroll\n"
            "annotate Y j unroll\n");
  EXPECT_EQ(bench.holes(), "tile Y 2");  // one vector of channels, or two
  ASSERT_EQ(loops.outer.size(), 2U);
  EXPECT_EQ(loops.outer[0].name.text(), "i.0");
}

}  // namespace
}  // namespace tilewright::space
